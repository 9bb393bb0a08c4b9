import type { ProjectFileReader } from './project-file-reader.ts';

const FILES = [
  '.prettierrc',
  ...['json', 'json5', 'yaml', 'yml', 'toml', 'js', 'cjs', 'mjs', 'ts'].map((end) => `.prettierrc.${end}`),
];
const SCRIPTS = ['js', 'cjs', 'mjs', 'ts'].map((end) => `prettier.config.${end}`);

/** True if the repository's prettier wants single quotes. Its settings are read as text. */
export const prefersSingleQuotes = (tree: ProjectFileReader): boolean =>
  [...FILES, ...SCRIPTS, 'package.json'].some((file) =>
    /\bsingleQuote["']?\s*[:=]\s*true\b/.test(tree.read(file) ?? ''),
  );
