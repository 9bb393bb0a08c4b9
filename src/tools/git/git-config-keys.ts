/** One value of the repository's configuration. Section and name are in lower case, the subsection as written. */
export interface GitConfigValue {
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
export function parseGitConfig(stdout: string): GitConfigValue[] {
  const fields = stdout.split('\0');
  const values: GitConfigValue[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (fields[i] === 'command') continue;
    const entry = fields[i + 1]!;
    const at = entry.indexOf('\n');
    values.push({ key: at < 0 ? entry : entry.slice(0, at), value: at < 0 ? 'true' : entry.slice(at + 1) });
  }
  return values;
}

/** The keys that would run a program of the repository despite hopgate's settings. */
export const keysThatRunPrograms = (config: readonly GitConfigValue[]): string[] => keysLike(config, COMMAND_KEYS);

/** The keys that could redirect a push or make it send more than one branch. */
export const keysThatRedirectPush = (config: readonly GitConfigValue[]): string[] => keysLike(config, PUSH_KEYS);

/** The keys that would influence the connection to a remote. */
export const keysOfConnection = (config: readonly GitConfigValue[]): string[] => keysLike(config, NETWORK_KEYS);

export const submoduleNamesIn = (config: readonly GitConfigValue[]): string[] => [
  ...new Set(config.flatMap(({ key }) => /^submodule\.(.+)\.[^.]+$/s.exec(key)?.[1] ?? [])),
];

export const gitConfigValuesOf = (config: readonly GitConfigValue[], key: string): string[] =>
  config.filter((entry) => entry.key === key).map(({ value }) => value);

/**
 * The shell command that lets the group write the new files of a shared repository; null if it is not shared. git
 * itself would set the setgid bit of folders, which no sandboxed command may do. New folders inherit the bit from the
 * folder above.
 */
export function umaskOfSharedRepository(config: readonly GitConfigValue[]): string | null {
  const shared = gitConfigValuesOf(config, 'core.sharedrepository').at(-1) ?? '';
  if (/^(?:group|true|yes|on|1|0660)$/i.test(shared)) return 'umask g=rwx';
  return /^(?:all|world|everybody|2|0664)$/i.test(shared) ? 'umask g=rwx,o=rx' : null;
}

function keysLike(config: readonly GitConfigValue[], patterns: readonly RegExp[]): string[] {
  // Keys with an empty value are left out, because an empty value resets a list or names no program.
  return [
    ...new Set(
      config.filter(({ key, value }) => value !== '' && patterns.some((p) => p.test(key))).map(({ key }) => key),
    ),
  ];
}
