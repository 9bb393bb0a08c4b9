import { randomUUID } from 'node:crypto';
import { basename, join, normalize, parse } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { asJson } from '../../base/json.ts';
import { isArgumentRefusal } from '../../gate/commands/argument-refusal.ts';
import { type ChosenTestCommand, chooseTestCommand } from '../../gate/commands/choose-command.ts';
import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import type { Fields } from '../../spec/types.ts';
import { testCacheMounts } from '../programs/cache-mounts.ts';
import { cutToHeadAndTail } from '../sandbox/bounded-output.ts';
import { fileStateStamp } from '../sandbox/mounts/certificates.ts';
import { addMountsToLayout, findStateFolders, type LayoutLimits } from '../sandbox/mounts/layout.ts';
import { makeTestLayout } from '../sandbox/mounts/tool-layouts.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';
import { compareTestCount } from '../test-report/compare-counts.ts';
import { judgeTestRun } from '../test-report/judge-run.ts';
import { refusalStop, type ToolStop } from '../workspace/tool-stop.ts';
import { findChangedCode } from './changed-code.ts';
import { type FilledCommandEnv, fillCommandEnv } from './command-env.ts';
import { makeCommandReport } from './command-report.ts';
import { readWrittenFile } from './read-written-file.ts';
import { inspectCallTree, overlayRefusal, type ScannedCallTree, type ShellContext } from './shell-context.ts';

/** Bytes of stdout that are kept for reading a TAP report; the agent may see less. */
const REPORT_BYTES = 16 << 20;

const MAX_CHANGED = 100;

/** Runs `bash-test`: configured test commands without a shell, each on a throwaway overlay of the tree. */
export async function runTestTool(context: ShellContext): Promise<ToolReport | ToolStop> {
  const { call } = context;
  const chosen = chooseTestCommand(call.envelope.config.test, call.args['command']);
  if (isArgumentRefusal(chosen)) return refusalStop(chosen);
  const refusal = overlayRefusal(context);
  if (refusal) return refusal;
  const tree = await inspectCallTree(context);
  const outputBytes = Math.floor(call.tool.limits.outputBytes / chosen.length);
  const runs: { readonly result: CommandResult; readonly fields: Fields }[] = [];
  for (const test of chosen) {
    const { result, junit, changed } = await runTest(context, tree, test);
    runs.push({ result: boundOutput(result, outputBytes), fields: fieldsOfRun(call, test, result, junit, changed) });
    if (result.aborted) break;
  }
  const [first] = runs;
  if (chosen.length === 1 && first)
    return makeCommandReport(context, first.result, [], { ...first.fields, ...tree.remarks });
  const verdicts = runs.map(({ fields: { verdict } }) => verdict);
  return makeCommandReport(context, combineResults(runs, chosen), [], {
    verdict: verdicts.includes('fail') ? 'fail' : verdicts.includes('error') ? 'error' : 'pass',
    runs: runs.map(({ result: { exit, seconds }, fields: run }) => ({ ...run, exit, seconds })),
    ...tree.remarks,
  });
}

function fieldsOfRun(
  { envelope, sessionId }: ToolCall,
  { argv, config, narrowed, others }: ChosenTestCommand,
  result: CommandResult,
  junit: string | null,
  changed: readonly string[],
): Fields {
  const { verdict, report, reportProblem, remedy } = judgeTestRun(config.report, result, junit, changed);
  const passed = verdict === 'pass' && report !== null && !narrowed ? report.passed : null;
  const before =
    passed === null ? null : compareTestCount(findStateFolders()[0]!, envelope.root, argv.join(' '), sessionId, passed);
  return {
    command: [...argv],
    narrowed,
    ...(passed !== null && before !== null && passed < before ? { fewerTests: { before, now: passed } } : {}),
    ...(others.length === 0 ? {} : { others: [...others] }),
    verdict,
    report: asJson(report),
    ...(reportProblem === undefined ? {} : { reportProblem }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(changed.length === 0 ? {} : { changedCode: changed.slice(0, MAX_CHANGED) }),
  };
}

/** Combines several runs: the first non-zero status, and the outputs one after the other, each below its command. */
function combineResults(
  runs: readonly { readonly result: CommandResult }[],
  chosen: readonly ChosenTestCommand[],
): CommandResult {
  const results = runs.map(({ result }) => result);
  const bad = results.find(({ exit }) => exit !== 0);
  const text = (of: (result: CommandResult) => string) =>
    results.map((result, at) => (of(result) === '' ? '' : `$ ${chosen[at]!.argv.join(' ')}\n${of(result)}\n`)).join('');
  const any = (is: (result: CommandResult) => boolean) => results.some(is);
  return {
    exit: bad ? bad.exit : 0,
    signal: bad?.signal ?? null,
    stdout: text(({ stdout }) => stdout),
    stderr: text(({ stderr }) => stderr),
    truncated: any(({ truncated }) => truncated),
    timedOut: any(({ timedOut }) => timedOut),
    aborted: any(({ aborted }) => aborted),
    flooded: any(({ flooded }) => flooded),
    seconds: results.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

/** Runs one test command, and reads the report only from files that this run wrote. */
export async function runTest(
  context: ShellContext,
  tree: ScannedCallTree,
  { argv, config: { report, env, minutes, memory } }: ChosenTestCommand,
): Promise<{ result: CommandResult; junit: string | null; changed: readonly string[] }> {
  const { envelope, tool } = context.call;
  const filled = fillCommandEnv(env, context.env);
  const location = typeof report === 'object' ? locateReport(report.junit, context.sandboxed) : null;
  const named = location === null ? null : nameReport(location, argv, filled.env);
  const path = location === null ? null : named === null ? location.path : location.freshPath;
  let junit: string | null = null;
  let changed: readonly string[] = [];
  const before = path === null || context.sandboxed ? null : fileStateStamp(join(envelope.root, path));
  const layout = addMountsToLayout(makeTestLayout({ ...tree, limits: { ...tree.limits, ...memoryLimit(memory) } }), [
    ...(context.sandboxed ? testCacheMounts(context.call) : []),
    ...(named && location?.outbox ? [{ kind: 'outbox', target: location.outbox } as const] : []),
  ]);
  const result = await context.run(tree, layout, named?.argv ?? argv, {
    ...(minutes === undefined ? {} : { seconds: minutes * 60 }),
    // NO_COLOR is not set, because tests of colours would fail; colours are removed from the output instead.
    env: { CI: '1', ...(named?.env ?? filled.env) },
    onOutput: filled.mayShowOutput ? context.call.onOutput : undefined,
    outputBytes: report === 'tap' ? Math.max(REPORT_BYTES, tool.limits.outputBytes) : tool.limits.outputBytes,
    // The upper folder contains only files of this run, so an old report cannot count as a new one.
    inspect: async (view) => {
      // Some runners join their own folder and the absolute path, and so create the report in the tree.
      if (named && location?.outbox) junit = readWrittenFile(view.outbox, basename(location.freshPath));
      if (path !== null) junit ??= readWrittenFile(view.upper, path);
      changed = (await findChangedCode(context, view)).filter((each) => path === null || each !== normalize(path));
    },
  });
  if (path !== null && !context.sandboxed && fileStateStamp(join(envelope.root, path)) !== before)
    junit = readWrittenFile(envelope.root, path);
  const { stdout, stderr } = result;
  const plain = { stdout: stripVTControlCharacters(stdout), stderr: stripVTControlCharacters(stderr) };
  return { result: filled.cleanResult({ ...result, ...plain }), junit: junit && filled.clean(junit), changed };
}

function memoryLimit(memory: number | 'unlimited' | undefined): Partial<LayoutLimits> {
  if (memory === undefined) return {};
  return { memoryBytes: memory === 'unlimited' ? Number.POSITIVE_INFINITY : Math.ceil(memory * 2 ** 30) };
}

interface ReportLocation {
  /** The path in the configuration, relative to the root. */
  readonly path: string;
  /** A unique path for each run, so that tests cannot know in advance where their report will be read. */
  readonly freshPath: string;
  /** The folder of `freshPath`, if it lies outside of the tree. */
  readonly outbox: string | null;
}

/** In the sandbox, `reports/out.xml` becomes `/var/report-<id>/out.xml`; without a sandbox, `reports/out-<id>.xml`. */
function locateReport(path: string, sandboxed: boolean): ReportLocation {
  const { dir, name, ext, base } = parse(path);
  const outbox = sandboxed ? `/var/report-${randomUUID()}` : null;
  return { path, outbox, freshPath: outbox ? join(outbox, base) : join(dir, `${name}-${randomUUID()}${ext}`) };
}

/** The command with the fresh path in all words and variables that name the report; null if none does. */
function nameReport(
  { path, freshPath }: ReportLocation,
  argv: readonly string[],
  env: FilledCommandEnv['env'],
): { readonly argv: readonly string[]; readonly env: FilledCommandEnv['env'] } | null {
  const names = (word: string) => word === path || (/^[^\s=]+=/.test(word) && word.endsWith(`=${path}`));
  const rename = (word: string) => (names(word) ? `${word.slice(0, -path.length)}${freshPath}` : word);
  const values = Object.entries(env).map(([name, value]) => [name, value === path ? freshPath : value] as const);
  if (!argv.some(names) && !Object.values(env).includes(path)) return null;
  return { argv: argv.map(rename), env: Object.fromEntries(values) };
}

function boundOutput(result: CommandResult, outputBytes: number): CommandResult {
  const stdout = cutToHeadAndTail(result.stdout, outputBytes);
  const stderr = cutToHeadAndTail(result.stderr, outputBytes);
  return {
    ...result,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: result.truncated || stdout.truncated || stderr.truncated,
  };
}
