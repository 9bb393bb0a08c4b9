/**
 * The settings without which git cannot read a repository: its format, and how files are compared. None of them names a
 * program or a path.
 */
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

/**
 * Returns only the format settings of a repository's configuration. They replace the whole configuration if that is
 * masked.
 *
 * @example formatOnly('[extensions]\n\tobjectformat = sha256\n[remote "o"]\n\turl = https://me:secret@host/')
 */
export function formatOnly(config: string): string {
  const kept = new Map<string, Map<string, string>>();
  let section: string | null = null;
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]*?)\s*\]\s*(.*)$/.exec(line);
    if (header) section = header[1]!.toLowerCase();
    const [, key = '', value = ''] =
      /^\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(\S+)\s*$/.exec(header ? header[2]! : line) ?? [];
    if (section === null || !Object.hasOwn(KEPT, section)) continue;
    const name = key.toLowerCase();
    if (!Object.hasOwn(KEPT[section]!, name) || !KEPT[section]![name]!.test(value)) continue;
    const values = kept.get(section) ?? new Map<string, string>();
    kept.set(section, values.set(name, value));
  }
  return [...kept]
    .map(([name, values]) => `[${name}]\n${[...values].map(([key, value]) => `\t${key} = ${value}\n`).join('')}`)
    .join('');
}
