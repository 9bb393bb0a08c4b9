/** One value of the repository's configuration. Section and name are in lower case, the subsection as written. */
export interface ConfigValue {
  readonly key: string;
  readonly value: string;
}

/** Keys that name a program and that no `-c` can override, because their middle part can be any name. */
const COMMAND_KEYS: readonly RegExp[] = [
  /^filter\..*\.(?:clean|smudge|process)$/s,
  /^credential\..*\.helper$/s,
  /^remote\..*\.(?:vcs|receivepack|uploadpack)$/s,
  /^hook\..*\.command$/s,
];

/** Keys that would make a push go elsewhere or send more than one branch. */
const PUSH_KEYS: readonly RegExp[] = [/^url\..*\.(?:insteadof|pushinsteadof)$/s, /^remote\..*\.mirror$/s];

/** Keys that influence connections. If no sandbox hides them, a push over the network is refused. */
const NETWORK_KEYS: readonly RegExp[] = [/^(?:http|url|credential|ssh)\./s, /^core\.gitproxy$/s, /^remote\..*\.proxy/s];

/** Parses the output of `git config --list -z --show-scope`; hopgate's own settings (scope `command`) are left out. */
export function parseConfig(stdout: string): ConfigValue[] {
  const fields = stdout.split('\0');
  const values: ConfigValue[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (fields[i] === 'command') continue;
    const entry = fields[i + 1]!;
    const at = entry.indexOf('\n');
    values.push({ key: at < 0 ? entry : entry.slice(0, at), value: at < 0 ? 'true' : entry.slice(at + 1) });
  }
  return values;
}

/** The keys that would run a program of the repository despite hopgate's settings. */
export const commandKeys = (config: readonly ConfigValue[]): string[] => keysLike(config, COMMAND_KEYS);

/** The keys that could redirect a push or make it send more than one branch. */
export const pushKeys = (config: readonly ConfigValue[]): string[] => keysLike(config, PUSH_KEYS);

/** The keys that would influence the connection to a remote. */
export const networkKeys = (config: readonly ConfigValue[]): string[] => keysLike(config, NETWORK_KEYS);

export function submoduleNames(config: readonly ConfigValue[]): string[] {
  return [...new Set(config.flatMap(({ key }) => /^submodule\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? []))];
}

/** All values of a key, in the order of the files. */
export function configValues(config: readonly ConfigValue[], key: string): string[] {
  return config.filter((entry) => entry.key === key).map(({ value }) => value);
}

function keysLike(config: readonly ConfigValue[], patterns: readonly RegExp[]): string[] {
  // Keys with an empty value are left out: it resets a list or names no program.
  return [
    ...new Set(
      config.filter(({ key, value }) => value !== '' && patterns.some((p) => p.test(key))).map(({ key }) => key),
    ),
  ];
}
