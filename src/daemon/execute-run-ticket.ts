import { once } from 'node:events';
import { renderDenialLines } from '../adapters/core/describe-refusal.ts';
import { adviseOnSandboxError } from '../adapters/core/sandbox-advice.ts';
import { entryIdsOrNull, type ToolResultFields, toolResultItem } from '../adapters/core/transcript/transcript-items.ts';
import { fieldsOf, isObject } from '../base/json.ts';
import { errorText } from '../base/text.ts';
import type { BackgroundCommand } from '../ports/tool-backend.ts';
import type { RefusedCall, StepResult } from '../session/call-results.ts';
import type { Session } from '../session/session.ts';
import { BACKGROUND_TOOL_ID } from '../spec/policy/command-tools.ts';
import type { Fields, Json } from '../spec/types.ts';
import type { SessionHost } from './session-host.ts';

/** The output and exit status of the command line that replaced the agent's command. */
export interface RunTicketOutput {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Exit status for a command that could not be run or is not permitted. */
const NOT_RUN = 125;
const REFUSED = 126;
/** Maximum number of dropped changes to name. */
const MAX_DROPPED = 20;

/** How long a run waits for the session, in milliseconds; other commands of the session may be running. */
const WAIT_MS = 10 * 60_000;

/** Receives the output of a background command while it runs. */
export type OnOutput = (text: string) => void;

/**
 * Runs the call of a ticket in its session. Never throws. For a background command, it resolves when the command has
 * ended, and passes the output to `onPart` until then. If the signal is aborted, because the client ended its shell,
 * the command is stopped.
 */
export async function executeRunTicket(
  host: SessionHost,
  ticket: string,
  signal: AbortSignal,
  onPart: OnOutput = () => {},
): Promise<RunTicketOutput> {
  try {
    const run = host.runTickets.take(ticket);
    if (!run)
      return failure(NOT_RUN, 'there is no call for this run ticket, or it has run already; make the call again');
    const record = host.conversations.stored(run.conversation);
    if (!record) return failure(NOT_RUN, 'the conversation of this run ticket no longer has a session');
    const { root } = run.conversation;
    const { callId, ...call } = run.call;
    const recordResult = (came: ToolResultFields) =>
      host.transcriptOf(root, record.sessionId).add(toolResultItem(callId, came));
    try {
      const above = await host.denialByParent(root, record.sessionId, call);
      const use = <T>(work: (session: Session) => Promise<T>) =>
        host.sessions.use(root, record.sessionId, call.tool, work, WAIT_MS);
      const { answer, recorded } = above
        ? await use(async (session) => refusedBy(await session.admit({ ...call, above })))
        : call.tool === BACKGROUND_TOOL_ID
          ? await runInBackground(host.isResident, use, call, { signal, onPart })
          : await use(async (session) => addAdvice(session, ticketAnswer(await session.step({ ...call, signal }))));
      recordResult(recorded);
      return answer;
    } catch (error) {
      recordResult({ status: 'error', text: errorText(error) });
      throw error;
    }
  } catch (error) {
    return failure(NOT_RUN, errorText(error));
  }
}

/** Starts a background command and follows it to its end. Each read of its output is a step of the session. */
async function runInBackground(
  isResident: boolean,
  use: <T>(work: (session: Session) => Promise<T>) => Promise<T>,
  call: { readonly tool: string; readonly args: unknown },
  { signal, onPart }: { readonly signal: AbortSignal; readonly onPart: OnOutput },
): Promise<TicketAnswer> {
  if (!isResident) throw new Error('a command in the background needs the daemon: run "hopgate daemon start"');
  let ended: Promise<void> = Promise.resolve();
  const onBackground = (command: BackgroundCommand) => {
    ended = command.ended;
    command.follow(onPart);
  };
  const [first, visit] = await use(async (session) => {
    const result = await session.step({ ...call, signal, onBackground });
    return [result, visitOf(session)] as const;
  });
  const { job, running } = first.ok ? fieldsOf(first.result) : {};
  if (running !== true || typeof job !== 'string') return answerAfterOutput(first);
  await Promise.race([ended, signal.aborted ? null : once(signal, 'abort')]);
  const args = { job, ...(signal.aborted ? { stop: true } : {}) };
  const last = await use(async (session) =>
    visitOf(session) === visit ? session.step({ tool: call.tool, args }) : null,
  );
  if (!last) return { answer: VISIT_ENDED, recorded: { status: 'ok', text: VISIT_ENDED.stderr } };
  const { answer, recorded } = answerAfterOutput(last);
  return { answer, recorded: { ...recorded, evidence: entryIdsOrNull([...first.evidence, ...last.evidence]) } };
}

/** A name that is unique among the visits of a session. */
const visitOf = ({ state: { peripheral, visits } }: Session): string => `${peripheral} ${visits[peripheral ?? '']}`;

/** The answer without the command's output, which the client has already received. */
const answerAfterOutput = (result: StepResult): TicketAnswer => {
  const answer = ticketAnswer(result);
  if (!result.ok || result.error || !isObject(result.result)) return answer;
  return { ...answer, answer: ticketAnswer({ ...result, result: { ...result.result, stdout: '' } }).answer };
};

interface TicketAnswer {
  readonly answer: RunTicketOutput;
  readonly recorded: ToolResultFields;
}

function ticketAnswer(result: StepResult): TicketAnswer {
  if (!result.ok) return refusedBy(result);
  const { error, outcome: status } = result;
  const streams = asCommand(result.result);
  const answer = error
    ? withError(streams, `${error.code}: ${error.message}`)
    : (streams ?? { exit: 0, stdout: `${JSON.stringify(result.result)}\n`, stderr: '' });
  return {
    answer,
    recorded: { status, text: answer.stdout + answer.stderr, evidence: entryIdsOrNull(result.evidence) },
  };
}

/** Appends advice to the error output if the sandbox caused the command's failure. */
function addAdvice(session: Session, { answer, recorded }: TicketAnswer): TicketAnswer {
  const advice = answer.exit === 0 ? null : adviseOnSandboxError(session, answer.stderr + answer.stdout);
  if (advice === null) return { answer, recorded };
  return {
    answer: { ...answer, stderr: `${answer.stderr}${advice}\n` },
    recorded: { ...recorded, text: `${recorded.text}${advice}\n` },
  };
}

function refusedBy(result: RefusedCall | { readonly ok: true }): TicketAnswer {
  if (result.ok) throw new Error('a refusal allowed a call');
  const answer = failure(REFUSED, renderDenialLines('', result.denial).join('\n'));
  return {
    answer,
    recorded: {
      status: 'refused',
      code: result.denial.code,
      text: answer.stderr,
      evidence: entryIdsOrNull(result.evidence),
    },
  };
}

const failure = (exit: number, why: string): RunTicketOutput => ({ exit, stdout: '', stderr: `hopgate: ${why}\n` });

const VISIT_ENDED = failure(137, 'the command was stopped, because the visit that it ran in has ended');

const withError = (answer: RunTicketOutput | null, why: string): RunTicketOutput => ({
  exit: answer && answer.exit !== 0 ? answer.exit : NOT_RUN,
  stdout: answer?.stdout ?? '',
  stderr: `${answer?.stderr ?? ''}hopgate: ${why}\n`,
});

/** A command's own streams and status, from the result of a tool that runs commands. */
function asCommand(result: Json): RunTicketOutput | null {
  if (!isObject(result)) return null;
  const { exit, signal, stdout, stderr } = result;
  if (typeof exit !== 'number' && exit !== null) return null;
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const { stdout: _, stderr: __, exit: ___, command: ____, ...rest } = result;
  const status = typeof exit === 'number' ? exit : typeof signal === 'string' ? 137 : NOT_RUN;
  return { exit: status & 0xff, stdout: notKept(rest) + text(stdout), stderr: text(stderr) + remarks(rest) };
}

/** Names the dropped changes. They precede the output, because they often mean that the command failed. */
function notKept({ dropped }: Fields): string {
  const lines = (Array.isArray(dropped) ? dropped : []).slice(0, MAX_DROPPED).map((item) => {
    const { path, why } = item as { readonly path?: Json; readonly why?: Json };
    return `hopgate did not keep ${String(path)}: ${String(why)}\n`;
  });
  const more = Array.isArray(dropped) ? dropped.length - lines.length : 0;
  return lines.join('') + (more > 0 ? `hopgate did not keep ${more} more\n` : '');
}

/** hopgate's remarks on a command, which are not part of its output. */
function remarks({ timedOut, flooded, ...fields }: Fields): string {
  const texts = ['git', 'masked', 'noNetwork', 'notShown', 'linkedOutside'].map((field) => fields[field]);
  const lines = texts.filter((each) => typeof each === 'string').map((each) => `says: ${each}`);
  if (timedOut === true) lines.push('killed it after its time limit');
  if (flooded === true) lines.push('killed it because it printed too much');
  return lines.map((line) => `hopgate ${line}\n`).join('');
}
