/** Allowed values of the settings that git needs to read a repository. None names a program or a path. */
const KEPT: { readonly [section: string]: { readonly [key: string]: RegExp } } = {
  core: {
    repositoryformatversion: /^[01]$/,
    filemode: /^(?:true|false)$/,
    bare: /^(?:true|false)$/,
    ignorecase: /^(?:true|false)$/,
    symlinks: /^(?:true|false)$/,
    precomposeunicode: /^(?:true|false)$/,
    autocrlf: /^(?:true|false|input)$/,
    eol: /^(?:lf|crlf|native)$/,
    sparsecheckout: /^(?:true|false)$/,
    sparsecheckoutcone: /^(?:true|false)$/,
  },
  extensions: {
    objectformat: /^sha(?:1|256)$/,
    refstorage: /^(?:files|reftable)$/,
    worktreeconfig: /^(?:true|false)$/,
  },
};

const HOST = String.raw`[\w.-]+(?::\d+)?`;
const PATH = String.raw`[\w.~+][\w./~+-]*`;
/** Matches an address that contains no password or token: no user name for https, no query. */
const ADDRESS = new RegExp(
  `^(?:(?:https?|git)://${HOST}/${PATH}|file:///${PATH}|ssh://(?:[\\w.-]+@)?${HOST}/${PATH}|[\\w.-]+@[\\w.-]+:/?${PATH}|/?${PATH})$`,
);

/** The settings of remotes and branches by which git compares a branch with its upstream, and of submodules. */
const KEPT_BY_NAME: typeof KEPT = {
  remote: { url: ADDRESS, fetch: /^\+?refs\/[\w./*-]+:refs\/[\w./*-]+$/ },
  submodule: { active: /^(?:true|false)$/ },
  branch: { remote: /^[\w.-]+$/, merge: /^refs\/heads\/[\w./-]+$/ },
};

/** The keys of a section that are kept, and the section's name in its usual form: `core`, `branch "main"`. */
function keptSection(
  header: string,
  byName: boolean,
): { readonly name: string; readonly keys: (typeof KEPT)[string] } | null {
  const [, section = '', sub] = /^(\w+)(?:\s+"([\w./-]+)")?$/.exec(header) ?? [];
  const kind = section.toLowerCase();
  const table = sub === undefined ? KEPT : KEPT_BY_NAME;
  if ((sub !== undefined && !byName) || !Object.hasOwn(table, kind)) return null;
  return { name: sub === undefined ? kind : `${kind} "${sub}"`, keys: table[kind]! };
}

/** Returns only the format settings, for sandboxes in which a repository's addresses and programs have no effect. */
export const keepGitFormatSettings = (config: string): string => keptSettings(config, false);

/** Returns the configuration that commands see: format settings, and remotes and branches without secrets. */
export const removeGitCredentials = (config: string): string => keptSettings(config, true);

function keptSettings(config: string, byName: boolean): string {
  const kept = new Map<string, Map<string, string>>();
  let section: ReturnType<typeof keptSection> = null;
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[([^\]]*)\](.*)$/.exec(line);
    if (header) section = keptSection(header[1]!.trim(), byName);
    const [, key = '', value = ''] =
      /^\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(\S+)\s*$/.exec(header ? header[2]! : line) ?? [];
    const name = key.toLowerCase();
    if (section === null || !Object.hasOwn(section.keys, name) || !section.keys[name]!.test(value)) continue;
    const values = kept.get(section.name) ?? new Map<string, string>();
    kept.set(section.name, values.set(name, value));
  }
  return [...kept]
    .map(([name, values]) => `[${name}]\n${[...values].map(([key, value]) => `\t${key} = ${value}\n`).join('')}`)
    .join('');
}
