import type { ToolReport } from '../../../ports/tool-backend.ts';
import type { Fields } from '../../../spec/types.ts';
import { commandCacheMounts } from '../../programs/cache-mounts.ts';
import { addMountsToLayout } from '../../sandbox/mounts/layout.ts';
import { makeExploreLayout } from '../../sandbox/mounts/tool-layouts.ts';
import type { OverlayWrites } from '../../sandbox/sandbox.ts';
import { failedToolStop, invalidArgumentStop, isStop, type ToolStop } from '../../workspace/tool-stop.ts';
import { listDiscardedFiles } from '../changed-code.ts';
import { droppedChangesField, makeCommandReport } from '../command-report.ts';
import { watchCoveredFiles } from '../late-masked-files.ts';
import { argvOfShellCall, inspectCallTree, overlayRefusal, type ShellContext } from '../shell-context.ts';
import { BackgroundJob, MAX_JOBS_PER_SESSION, type RunJobCommand, type SessionJobs } from './jobs.ts';

const WHY = 'a command in the background keeps no change of the tree';
/** How long the start of a job waits for its command to end, so that an early failure is reported at once. */
const FIRST_MS = 500;

/** Data about a job for later calls: the context of its start, the check of masked files, and its discarded changes. */
interface JobContext {
  readonly context: ShellContext;
  readonly check: () => void;
  discarded: readonly string[];
  readonly remarks: Fields;
}
const jobContexts = new WeakMap<BackgroundJob, JobContext>();

/** Runs `bash-background`: starts a command on a throwaway overlay, reads its output, or stops it. */
export async function runBackgroundTool(context: ShellContext, jobs: SessionJobs): Promise<ToolReport | ToolStop> {
  const { args, sessionId, signal } = context.call;
  const { command, job: id, wait = 0, stop = false } = args;
  if (command !== undefined) {
    if (id !== undefined || stop === true)
      return invalidArgumentStop(
        'command',
        '"command" excludes "job" and "stop".',
        'Leave out "command", or both "job" and "stop".',
      );
    return startJob(context, jobs);
  }
  const all = jobs.of(sessionId);
  if (id === undefined) {
    const list = all.map(({ id: job, command: line, isRunning: running }) => ({ job, command: line, running }));
    return { outcome: { status: 'ok', result: { jobs: list } }, effects: [] };
  }
  const job = all.find((each) => each.id === id);
  if (!job) {
    const ids = all.map((each) => each.id).join(', ') || 'none';
    return failedToolStop('no-such-job', `There is no job "${String(id)}" in this visit; there are: ${ids}.`);
  }
  if (stop === true) await job.stop();
  else await job.outputOrEnd(Number(wait) * 1000, signal);
  return reportJob(job);
}

async function startJob(context: ShellContext, jobs: SessionJobs): Promise<ToolReport | ToolStop> {
  const { call } = context;
  const { sessionId, signal, envelope, tool } = call;
  const argv = argvOfShellCall(call);
  if (isStop(argv)) return argv;
  const refusal = overlayRefusal(context);
  if (refusal) return refusal;
  if (!context.sandboxed)
    return failedToolStop('not-contained', 'A background command needs a sandbox. Run it with bash or bash-readonly.');
  const running = jobs.of(sessionId).filter(({ isRunning }) => isRunning);
  if (running.length >= MAX_JOBS_PER_SESSION) {
    const names = running.map(({ id, command }) => `${id} (${command})`).join(', ');
    return failedToolStop(
      'too-many-jobs',
      `${MAX_JOBS_PER_SESSION} commands run in the background: ${names}. Stop one with "stop".`,
    );
  }
  const tree = await inspectCallTree(context);
  const layout = addMountsToLayout(makeExploreLayout(tree), commandCacheMounts(call));
  const jobContext: JobContext = {
    context,
    check: watchCoveredFiles(tree, layout),
    discarded: [],
    remarks: tree.remarks,
  };
  const millisecondsLeft = (envelope.deadline ?? Number.POSITIVE_INFINITY) - Date.now();
  const seconds = Math.max(1, Math.min(tool.limits.seconds, millisecondsLeft / 1000));
  const inspect = async (view: OverlayWrites) => {
    jobContext.discarded = await listDiscardedFiles(context, view, new Set(tree.scan.maskedFiles));
  };
  const run: RunJobCommand = (watch) => context.run(tree, layout, argv, { ...watch, seconds, inspect });
  const { outputBytes } = tool.limits;
  const job = jobs.start(
    sessionId,
    (id) => new BackgroundJob(id, String(call.args['command']), outputBytes, jobContext.check, run),
  );
  jobContexts.set(job, jobContext);
  call.onBackground?.(job);
  await job.endedWithin(FIRST_MS, signal);
  return reportJob(job, true);
}

/** The output since the last read and, after the end, how the command ended. */
function reportJob(job: BackgroundJob, isFirst = false): ToolReport {
  const { context, check, discarded, remarks } = jobContexts.get(job)!;
  if (job.error !== null) throw job.error;
  try {
    check();
  } catch (error) {
    void job.stop();
    throw error;
  }
  const { text: stdout, truncated } = isFirst && job.isFollowed ? job.peekUnread() : job.takeUnread();
  const about = { job: job.id, running: job.isRunning };
  if (job.result === null) return { outcome: { status: 'ok', result: { ...about, stdout, truncated } }, effects: [] };
  // A command that was stopped on request is a result, not an aborted call.
  const result = { ...job.result, stdout, stderr: '', truncated, aborted: false };
  return makeCommandReport(context, result, [], {
    ...droppedChangesField(discarded.map((path) => ({ path, why: WHY }))),
    ...remarks,
    ...about,
  });
}
