import { dirname, join, relative, resolve } from 'node:path';
import { Option } from 'commander';
import { makeFolders, writeNamedFile } from '../../../base/files.ts';
import { errorText, plural } from '../../../base/text.ts';
import { loadSpecs } from '../../../spec/load/load-specs.ts';
import { emitTestFiles } from '../../../testing/emit-test-files.ts';
import { type GeneratedTests, generateTests } from '../../../testing/generate-tests.ts';
import { type JunitTestResult, writeJunitReport } from '../../../testing/junit-report.ts';
import type { CoverageRow } from '../../../testing/plan/coverage.ts';
import { chooseSpecsFolder } from '../../choose-specs.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, paint, print, printJson, printJsonLine, printResult } from '../../io.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { printTable } from '../../table.ts';

interface Options extends RootOption {
  readonly emit?: string;
  readonly paths?: boolean;
  readonly junit?: string;
  readonly crashes?: boolean;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Generates tests from the specs and runs them on real sessions with stub tools: every edge, every round trip of a hop, every rule that can refuse, every limit. Compares each answer with a second, independent judgement of the spec. Exit code 1 if they disagree.',
    )
    .argument('[specs]', 'a spec folder or file (default: the one that hopgate.yaml names)')
    .option('--crashes', 'also crash the writer during each call, on SQLite (slower)')
    .option('--junit <file>', 'write a JUnit report')
    .addOption(
      new Option('--emit <dir>', 'write the tests as vitest files instead of running them').conflicts('crashes'),
    )
    .addOption(
      new Option('--paths', 'print the path of each test instead of running it; as data with --json').conflicts([
        'emit',
        'junit',
      ]),
    )
    .addOption(rootOption())
    .examples(
      'hopgate test',
      'hopgate test specs --crashes',
      'hopgate test --junit report.xml',
      'hopgate test specs --emit test/generated',
      'hopgate test specs --paths --json',
    )
    .action((specs: string | undefined, options: Options) => test(io, specs, options));
}

async function test(io: Io, path: string | undefined, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const folder = await chooseSpecsFolder(io, root, path);
  const specs = await loadSpecs(folder);
  const generated = await generateTests(specs, { crashes: options.crashes ?? false });
  if (options.paths) return printPaths(io, generated);
  if (options.emit !== undefined) return writeTestFiles(io, generated, folder, resolve(io.cwd, options.emit));
  const results = await runAll(io, generated);
  const failed = results.filter(({ failure }) => failure !== null);
  const { requests, rows } = generated.coverage();
  const uncovered = rows.some(({ what, missing }) => what !== 'gates' && missing.length > 0);
  if (failed.length > 0 || uncovered) io.exitCode = 1;
  if (options.junit !== undefined) writeFile(resolve(io.cwd, options.junit), writeJunitReport(results));
  if (io.json) {
    printJson(io, {
      ok: io.exitCode === 0,
      specs: folder,
      hash: specs.hash,
      tests: results.length,
      failed,
      requests,
      coverage: rows,
    });
    return;
  }
  for (const { group, name, failure } of failed)
    print(io, `${paint(io, 'red', 'failed')}  ${group}: ${name}\n${indent(failure ?? '')}\n`);
  printCoverage(io, rows);
  const word = io.exitCode === 0 ? paint(io, 'green', 'ok') : paint(io, 'red', 'failed');
  const how = generated.large ? 'walked' : 'by shortest paths';
  print(
    io,
    `${word}  ${results.length - failed.length} of ${plural(results.length, 'test')} pass, ${plural(requests, 'request')} judged, ${how} (${folder})`,
  );
}

/** Prints each test with the moves of its path; with --json, one test per line. */
function printPaths(io: Io, { tests }: GeneratedTests): void {
  for (const { group, name, planned } of tests)
    if (io.json) printJsonLine(io, { ...planned, group, name });
    else print(io, `${group}: ${name}\n  ${planned.moves.map((move) => move.name).join(' → ') || '(no moves)'}`);
}

async function runAll(io: Io, { tests }: GeneratedTests): Promise<readonly JunitTestResult[]> {
  const results: JunitTestResult[] = [];
  const shows = io.isTty && !io.json;
  for (const { group, name, run } of tests) {
    if (shows) io.stderr.write(`\r\u001b[K${results.length} of ${tests.length}  ${group}`);
    const began = performance.now();
    const failure = await run().then(() => null, errorText);
    results.push({ group, name, seconds: (performance.now() - began) / 1000, failure });
  }
  if (shows) io.stderr.write('\r\u001b[K');
  return results;
}

function printCoverage(io: Io, rows: readonly CoverageRow[]): void {
  const cells = rows.map(({ what, covered, reachable, unreachable }) => [
    what,
    `${covered} of ${reachable}`,
    unreachable.length === 0 ? '' : String(unreachable.length),
  ]);
  printTable(io, ['what', 'covered of reachable', 'unreachable'], cells);
  const list = (title: string, names: readonly string[]) => {
    if (names.length === 0) return;
    print(io, `\n${title}`);
    for (const name of names.slice(0, MAX_LISTED)) print(io, `  ${name}`);
    if (names.length > MAX_LISTED) print(io, `  and ${names.length - MAX_LISTED} more (--json lists them)`);
  };
  list(
    'Not covered:',
    rows.flatMap(({ what, missing }) => (what === 'gates' ? [] : missing)),
  );
  list(
    'Gates that refused no hop (another rule may always refuse before them):',
    rows.flatMap(({ what, missing }) => (what === 'gates' ? missing : [])),
  );
  list(
    'No path found ("hopgate check" names what can never be reached; other paths need context that only the caller of start has):',
    rows.flatMap(({ unreachable }) => unreachable),
  );
  print(io);
}

const MAX_LISTED = 20;
const indent = (text: string): string => text.replaceAll(/^/gm, '  ');

function writeTestFiles(io: Io, { tests }: GeneratedTests, specs: string, folder: string): void {
  const named = specs === 'default' ? specs : relative(folder, specs);
  const cases = tests.map(({ planned }) => planned);
  const files = Object.entries(emitTestFiles(cases, named));
  for (const [file, text] of files) writeFile(join(folder, file), text);
  const counts = `${plural(files.length, 'file')} with ${plural(tests.length, 'test')}`;
  const written = { files: files.map(([file]) => join(folder, file)), tests: tests.length };
  printResult(io, written, `${paint(io, 'green', 'written')}  ${counts} in ${folder}`);
}

function writeFile(file: string, text: string): void {
  makeFolders(dirname(file));
  writeNamedFile(file, text);
}
