import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const FOLDER = join(import.meta.dirname, 'ecosystems');

/** How closely the two runs must agree: in everything, or in exit status and changed files only. */
const Comparison = z.enum(['all', 'status']);
const Line = z.union([
  z.string().transform((run) => ({ run, compare: 'all' as const })),
  z.strictObject({ run: z.string(), compare: Comparison.default('all') }),
]);

const Ecosystem = z.strictObject({
  title: z.string(),
  /** Programs without which the ecosystem is left out. */
  needs: z.array(z.string()),
  /** Values for `{name}` in the common command lines. */
  words: z.record(z.string(), z.string()).default({}),
  files: z.record(z.string(), z.string()),
  /** Added to the environment of the runs outside. */
  env: z.record(z.string(), z.string()).default({}),
  /** Folders of the repository that come first on the PATH of the runs outside: an active virtual environment. */
  path: z.array(z.string()).default([]),
  /** Run outside before the first commit. */
  prepare: z.array(z.string()).default([]),
  /** Run outside after the first commit. */
  afterwards: z.array(z.string()).default([]),
  /** Added to the hopgate.yaml that `hopgate init` writes. */
  config: z.record(z.string(), z.unknown()).default({}),
  /** Run in explore and in edit. */
  commands: z.array(Line),
  /** Configured as test commands, and run in test. */
  tests: z.array(Line),
});

export type CommandLine = z.infer<typeof Line>;
export type Ecosystem = z.infer<typeof Ecosystem>;

const COMMON = 'common.yaml';

export const ecosystemNames = (): readonly string[] =>
  readdirSync(FOLDER)
    .filter((name) => name !== COMMON)
    .map((name) => name.slice(0, -'.yaml'.length))
    .sort();

/** Reads an ecosystem; its commands are followed by the common ones, which fit every repository. */
export function readEcosystem(name: string): Ecosystem {
  const own = Ecosystem.parse(read(`${name}.yaml`));
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (whole, word: string) => own.words[word] ?? whole);
  const common = z.array(Line).parse(read(COMMON));
  return { ...own, commands: [...own.commands, ...common.map((line) => ({ ...line, run: fill(line.run) }))] };
}

const read = (file: string): unknown => parse(readFileSync(join(FOLDER, file), 'utf8'));
