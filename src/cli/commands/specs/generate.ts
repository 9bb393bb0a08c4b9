import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { mapValues } from '../../../base/map-values.ts';
import { readRegularFile } from '../../../base/read-file.ts';
import { plural, toShellWord } from '../../../base/text.ts';
import { type GeneratedFiles, generateFiles } from '../../../compile/generate-files.ts';
import { compareGeneratedFiles, writeGeneratedFiles } from '../../../compile/write-generated-files.ts';
import { pipelineDiagram } from '../../../social/social-stages.ts';
import { defaultSpecsFolder, loadSpecs } from '../../../spec/load/load-specs.ts';
import { MAX_SETTINGS_BYTES } from '../../../spec/policy/limits.ts';
import { jsonSchemas } from '../../../spec/schema/json-schemas.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, printResult } from '../../io.ts';

interface Options {
  readonly out: string;
  readonly check?: boolean;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Writes, for each machine of a spec set, a *.machine.ts that Stately opens, its config as *.json and a Mermaid diagram as *.mmd. With --check it writes nothing, lists outdated files, and exits with 1 if there are any.',
    )
    .argument('[specs]', 'a spec folder or file (default: specs)')
    .option('--out <dir>', 'the folder of the machines', 'machines')
    .option('--check', 'compare only, write nothing')
    .examples('hopgate generate', 'hopgate generate team/specs --out team/machines', 'hopgate generate --check')
    .action((specs: string | undefined, options: Options) => generate(io, specs ?? 'specs', options));
}

async function generate(io: Io, specs: string, options: Options): Promise<void> {
  const targets = await targetsOf(resolve(io.cwd, specs), resolve(io.cwd, options.out));
  const changed: string[] = [];
  for (const { folder, files } of targets) {
    const difference = await compareGeneratedFiles(folder, files);
    const names = [...difference.missing, ...difference.stale, ...difference.extra].sort();
    changed.push(...names.map((name) => relative(io.cwd, join(folder, name))));
    if (!options.check) await writeGeneratedFiles(folder, files);
  }
  const count = targets.reduce((sum, { files }) => sum + Object.keys(files).length, 0);
  if (options.check && changed.length > 0)
    throw new CliError(
      'stale',
      `out of date: ${changed.join(', ')}`,
      `Run "hopgate generate ${toShellWord(specs)} --out ${toShellWord(options.out)}".`,
    );
  const files = plural(count, 'file');
  const text = [`Wrote ${changed.length} of ${files}:`, ...changed.map((name) => `  ${name}`)].join('\n');
  printResult(io, { ok: true, files: count, changed }, changed.length === 0 ? `${files} are up to date.` : text);
}

async function targetsOf(
  specs: string,
  out: string,
): Promise<readonly { readonly folder: string; readonly files: GeneratedFiles }[]> {
  const files = generateFiles(await loadSpecs(specs), { guardsImport: guardsImport(out) });
  // Only the built-in specs contain the schemas that every spec file refers to, and hopgate's own pipeline.
  return specs === defaultSpecsFolder()
    ? [
        { folder: out, files: { ...files, 'social-pipeline.mmd': pipelineDiagram() } },
        { folder: join(specs, 'schemas'), files: schemaFiles() },
      ]
    : [{ folder: out, files }];
}

const schemaFiles = (): GeneratedFiles => mapValues(jsonSchemas(), (schema) => `${JSON.stringify(schema, null, 2)}\n`);

/** Machines in hopgate's own sources import the guards by a relative path; others from the package. */
function guardsImport(out: string): string {
  const guards = join(dirname(defaultSpecsFolder()), 'src', 'compile', 'index.ts');
  if (nearestPackage(out) !== 'hopgate' || !existsSync(guards)) return 'hopgate/machines';
  const path = relative(out, guards).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}

function nearestPackage(folder: string): string | null {
  const file = join(folder, 'package.json');
  if (existsSync(file))
    return (JSON.parse(readRegularFile(file, MAX_SETTINGS_BYTES).toString('utf8')) as { name?: string }).name ?? null;
  return dirname(folder) === folder ? null : nearestPackage(dirname(folder));
}
