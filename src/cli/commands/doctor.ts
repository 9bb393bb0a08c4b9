import { openProject } from '../../project/open-project.ts';
import { sandboxOfProcess } from '../../tools/sandbox/detect-sandbox.ts';
import { probeSandbox } from '../../tools/sandbox/probe.ts';
import type { ProbeResult } from '../../tools/sandbox/probe-result.ts';
import type { CliCommand } from '../cli-command.ts';
import { diagnoseTests } from '../doctor/diagnose-tests.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { examineMachine } from '../doctor/examine-machine.ts';
import { formatHeading, type Io, paint, print, printJson, type TextStyle } from '../io.ts';
import { withProgressLine } from '../run/watch-call.ts';
import { type RootOption, resolveRootOption, rootOption } from '../shared-options.ts';
import { formatTable } from '../table.ts';

interface Options extends RootOption {
  readonly probe?: boolean;
  readonly tests?: boolean;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Checks Node, git, bubblewrap, ripgrep, the state folder, the evidence, hopgate.yaml, the specs, and the programs that hopgate.yaml names. For each missing part it says what works without it and how to get it. Exit code 1 only if no session can start; with --probe also if an attempt to leave the sandbox succeeds, or if there is no sandbox; with --tests also if a test command has another result in the sandbox than outside.',
    )
    .addOption(rootOption())
    .option('--probe', 'also try to escape from each sandbox layout in every known way')
    .option('--tests', 'also run each test command outside and in the sandbox, and compare verdicts and counts')
    .examples('hopgate doctor', 'hopgate doctor --probe', 'hopgate doctor --tests', 'hopgate doctor --json')
    .action((options: Options) => doctor(io, options));
}

async function doctor(io: Io, options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const examined = await withProgressLine(io, 'checking this machine', () => examineMachine(root, io));
  const tests = options.tests ? await compareTestRuns(io, options, examined) : [];
  const diagnoses = [...examined, ...tests];
  const attempts = options.probe ? await withProgressLine(io, 'trying to leave the sandbox', probe) : null;
  const allStopped = !options.probe || attempts?.every(({ stopped }) => stopped) === true;
  const ok =
    allStopped && diagnoses.every(({ status }) => status !== 'broken') && tests.every(({ status }) => status === 'ok');
  io.exitCode = ok ? 0 : 1;
  if (io.json) printJson(io, { ok, root, findings: diagnoses, ...(options.probe ? { attempts } : {}) });
  else {
    print(io, diagnoses.map((diagnosis) => describe(io, diagnosis)).join('\n'));
    if (options.probe)
      print(io, `\n${attempts === null ? 'There is no sandbox to probe.' : describeAttempts(io, attempts)}`);
  }
}

/** The diagnoses of the test commands; empty if no session can start, which an earlier diagnosis then explains. */
async function compareTestRuns(io: Io, options: Options, found: readonly Diagnosis[]): Promise<readonly Diagnosis[]> {
  if (found.some(({ status }) => status === 'broken')) return [];
  const { root, config } = await openProject(resolveRootOption(io, options), io.env);
  return withProgressLine(io, 'comparing the test commands', () => diagnoseTests(root, config, io));
}

async function probe(): Promise<readonly ProbeResult[] | null> {
  const sandbox = await sandboxOfProcess();
  return sandbox.availability.ok ? probeSandbox(sandbox) : null;
}

function describeAttempts(io: Io, attempts: readonly ProbeResult[]): string {
  const rows = attempts.map(({ layout, name, stopped, detail }) => [
    stopped ? (['green', 'stopped'] as const) : (['red', 'NOT stopped'] as const),
    layout,
    name,
    detail,
  ]);
  return `${formatHeading(io, 'Attempts to leave the sandbox')}\n${formatTable(io, ['', 'layout', 'attempt', 'what it saw'], rows)}`;
}

const MARKS: { readonly [status in Diagnosis['status']]: readonly [mark: string, style: TextStyle] } = {
  ok: ['ok     ', 'green'],
  missing: ['missing', 'yellow'],
  broken: ['broken ', 'red'],
};

function describe(io: Io, { name, status, found, without, fix, details = [] }: Diagnosis): string {
  const [mark, style] = MARKS[status];
  const lines = [`${paint(io, style, mark)}  ${name.padEnd(12)}  ${found}`];
  for (const line of [without, fix, ...details]) if (line) lines.push(`${' '.repeat(23)}${line}`);
  return lines.join('\n');
}
