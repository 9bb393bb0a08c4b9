import { Option } from 'commander';
import type { Io } from './io.ts';
import { realRoot } from './state-dir.ts';

/** `--root DIR`: the repository; the current folder unless given. Resolve it with {@link rootOf}. */
export const rootOption = (): Option => new Option('--root <dir>', 'the repository').default('.', 'the current folder');

/** The real path of `--root`. Throws CliError `no-root` (usage). */
export const rootOf = (io: Io, options: { readonly root: string }): string => realRoot(options.root, io.cwd);

/** The `Examples:` section of a command's help. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
