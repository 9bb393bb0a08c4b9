import { dirname, join, resolve } from 'node:path';
import { type InferredSpecs, inferSpecs } from '../../../audit/infer/infer-specs.ts';
import { printSpecs } from '../../../audit/infer/print-specs.ts';
import { addRecordedUsage, RecordedUsages } from '../../../audit/infer/recorded-usage.ts';
import { makeFolders, writeNewFile } from '../../../base/files.ts';
import { escapeInvisible, excerpt, plural } from '../../../base/text.ts';
import { openProject } from '../../../project/open-project.ts';
import type { SpecSet } from '../../../spec/types.ts';
import { chooseSessions, noSessionsError, readPinOrThrow, withExistingSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, formatHeading, type Io, paintDiff, print, printJson, printRemark } from '../../io.ts';
import { diffLines } from '../../line-diff.ts';
import { printTrustWarning } from '../../print-config-warnings.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { printTable } from '../../table.ts';

interface Options extends RootOption {
  readonly out?: string;
  readonly diff?: boolean;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Proposes the current specs of the repository without the tools, paths, commands, hosts, exits, entries and modes that no session used. Reads both the recorded requests and the observed effects. Prints the files (with --diff: the difference), and a list of what was granted and never used.',
    )
    .argument('[session...]', 'the ids of the sessions, or their first characters (default: all sessions)')
    .addOption(rootOption())
    .option('--out <dir>', 'write the files to this new folder')
    .option('--diff', 'print the difference from the current specs')
    .examples(
      'hopgate infer',
      'hopgate infer s-4f1c --diff',
      'hopgate infer --out specs-tight && hopgate check specs-tight',
    )
    .action((sessions: readonly string[], options: Options) => infer(io, sessions, options));
}

async function infer(io: Io, ids: readonly string[], options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const project = await openProject(root, io.env);
  printTrustWarning(io, project);
  const { specs } = project;
  const usage = await withExistingSessions(io, root, async (store) => {
    const found = new RecordedUsages();
    for (const session of await chooseSessions(store, ids)) {
      const pin = await readPinOrThrow(store, session);
      await addRecordedUsage(found, pin, store.entries(session.sessionId));
    }
    return found;
  });
  if (usage.sessions === 0) throw noSessionsError(io, root);
  const inferred = inferSpecs(specs, usage);
  if (Object.keys(inferred.seen).length === 0)
    throw new CliError(
      'unused-specs',
      `no session visited a peripheral of ${project.specsFolder}`,
      'Write the specs of the sessions to hopgate.yaml (specs: DIR), then run "hopgate trust".',
    );
  const files = printSpecs(inferred.specs);
  if (options.out !== undefined) writeFiles(resolve(io.cwd, options.out), files);
  if (io.json) printJson(io, { files: Object.fromEntries(files), slack: inferred.slack, seen: inferred.seen });
  else if (options.diff) printDiff(io, specs, files);
  else if (options.out === undefined) for (const [name, text] of files) print(io, `# ${name}\n${text}`);
  if (!io.json) printSlack(io, inferred);
  if (options.out !== undefined)
    printRemark(
      io,
      `wrote ${plural(files.size, 'file')} to ${options.out}; check them with "hopgate check ${options.out}"`,
    );
}

function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [name, text] of files) {
    const file = join(folder, name);
    makeFolders(dirname(file));
    if (!writeNewFile(file, text, 0o666))
      throw new CliError('file-exists', `${file} exists`, 'Name a new folder with --out.');
  }
}

/** Prints the current and the inferred specs in the same style, so that only differences in meaning appear. */
function printDiff(io: Io, specs: SpecSet, files: ReadonlyMap<string, string>): void {
  const current = printSpecs(specs);
  for (const name of new Set([...current.keys(), ...files.keys()])) {
    const lines = diffLines(current.get(name) ?? '', files.get(name) ?? '');
    if (!lines.some((line) => !line.startsWith(' '))) continue;
    print(io, formatHeading(io, name));
    for (const line of lines) if (!line.startsWith(' ')) print(io, paintDiff(io, escapeInvisible(line)));
  }
}

const WIDTH = 60;

function printSlack(io: Io, { slack, seen }: InferredSpecs): void {
  print(io, formatHeading(io, `\nGranted, never used (${slack.length})`));
  if (slack.length > 0) {
    const rows = slack.map(({ peripheral, what, granted }) => [peripheral ?? '-', what, granted]);
    printTable(io, ['peripheral', 'what', 'granted'], rows);
  }
  print(io, formatHeading(io, '\nSeen'));
  const rows = Object.entries(seen).map(([id, { visits, reads, writes, commands, hosts }]) => [
    id,
    String(visits),
    ...[reads, writes, commands, hosts].map((list) => excerpt(list.join(' ') || '-', WIDTH)),
  ]);
  printTable(io, ['peripheral', 'visits', 'read', 'written', 'commands', 'hosts'], rows);
}
