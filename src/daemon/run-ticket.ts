import { sentence } from '../adapters/core/language/sentence.ts';
import { sandboxAdvice } from '../adapters/core/sandbox-advice.ts';
import { idsOf, type ToolResultFields, toolResult } from '../adapters/core/transcript/transcript-items.ts';
import { isObject } from '../base/json.ts';
import type { Refused, StepResult } from '../session/results.ts';
import type { Session } from '../session/session.ts';
import type { Json } from '../spec/types.ts';
import type { SessionHost } from './host.ts';

/** The output and exit status of a command line that replaces the agent's own. */
export interface RunAnswer {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Exit status for a command that could not be run or is not permitted. */
const NOT_RUN = 125;
const REFUSED = 126;
/** Maximum number of changes that are named one by one. */
const MOST_DROPPED = 20;

/** How long a run waits for the session, in milliseconds; other commands of the session may be running. */
const WAIT_MS = 10 * 60_000;

/** Runs the call of a ticket in its session. Never throws. */
export async function runTicket(host: SessionHost, ticket: string, signal: AbortSignal): Promise<RunAnswer> {
  try {
    const run = host.takeRun(ticket);
    if (!run)
      return failure(NOT_RUN, 'this run does not exist or was used; each can be used once, so make the call again');
    const record = host.recordOf(run.conversation);
    if (!record) return failure(NOT_RUN, 'its conversation no longer has a session');
    const { root } = run.conversation;
    const { callId, ...call } = run.call;
    const tell = (came: ToolResultFields) => host.transcript(root, record.sessionId).add(toolResult(callId, came));
    try {
      const above = await host.refusedAbove(root, record.sessionId, call);
      const { answer, came } = await host.useSession(
        root,
        record.sessionId,
        call.tool,
        async (session) =>
          above
            ? refusedBy(await session.admit({ ...call, above }))
            : advised(session, ran(await session.step({ ...call, signal }))),
        WAIT_MS,
      );
      tell(came);
      return answer;
    } catch (error) {
      tell({ status: 'error', text: whyOf(error) });
      throw error;
    }
  } catch (error) {
    return failure(NOT_RUN, whyOf(error));
  }
}

/** The printed answer, and the result for the transcript. */
interface Ran {
  readonly answer: RunAnswer;
  readonly came: ToolResultFields;
}

function ran(result: StepResult): Ran {
  if (!result.ok) return refusedBy(result);
  const { error, outcome: status } = result;
  const streams = asCommand(result.result);
  const answer = error
    ? withError(streams, `${error.code}: ${error.message}`)
    : (streams ?? { exit: 0, stdout: `${JSON.stringify(result.result)}\n`, stderr: '' });
  return { answer, came: { status, text: answer.stdout + answer.stderr, evidence: idsOf(result.evidence) } };
}

/** Adds the lawful way after an error of the sandbox. */
function advised(session: Session, { answer, came }: Ran): Ran {
  const advice = answer.exit === 0 ? null : sandboxAdvice(session, answer.stderr + answer.stdout);
  if (advice === null) return { answer, came };
  return {
    answer: { ...answer, stderr: `${answer.stderr}${advice}\n` },
    came: { ...came, text: `${came.text}${advice}\n` },
  };
}

function refusedBy(result: Refused | { readonly ok: true }): Ran {
  if (result.ok) throw new Error('a refusal allowed a call');
  const { code, message, remedy } = result.denial;
  const answer = failure(REFUSED, `${code}: ${sentence(message)}\nWhat to do: ${sentence(remedy)}`);
  return { answer, came: { status: 'refused', code, text: answer.stderr, evidence: idsOf(result.evidence) } };
}

const whyOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const failure = (exit: number, why: string): RunAnswer => ({ exit, stdout: '', stderr: `hopgate: ${why}\n` });

const withError = (answer: RunAnswer | null, why: string): RunAnswer => ({
  exit: answer && answer.exit !== 0 ? answer.exit : NOT_RUN,
  stdout: answer?.stdout ?? '',
  stderr: `${answer?.stderr ?? ''}hopgate: ${why}\n`,
});

/** A command's own streams and status, from the result of a tool that runs commands. */
function asCommand(result: Json): RunAnswer | null {
  if (!isObject(result)) return null;
  const { exit, signal, stdout, stderr } = result;
  if (typeof exit !== 'number' && exit !== null) return null;
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const { stdout: _, stderr: __, exit: ___, command: ____, ...rest } = result;
  const status = typeof exit === 'number' ? exit : typeof signal === 'string' ? 137 : NOT_RUN;
  return { exit: status & 0xff, stdout: notKept(rest) + text(stdout), stderr: text(stderr) + remarks(rest) };
}

/** The changes that were not kept: printed before the command's own output, because they often void its success. */
function notKept({ dropped }: { readonly [field: string]: Json }): string {
  const lines = (Array.isArray(dropped) ? dropped : []).slice(0, MOST_DROPPED).map((item) => {
    const { path, why } = item as { readonly path?: Json; readonly why?: Json };
    return `hopgate did not keep ${String(path)}: ${String(why)}\n`;
  });
  const more = Array.isArray(dropped) ? dropped.length - lines.length : 0;
  return lines.join('') + (more > 0 ? `hopgate did not keep ${more} more\n` : '');
}

/** Remarks of hopgate in addition to the command's own output. */
function remarks({ git, timedOut, flooded }: { readonly [field: string]: Json }): string {
  const lines = typeof git === 'string' ? [`says: ${git}`] : [];
  if (timedOut === true) lines.push('killed it after its time limit');
  if (flooded === true) lines.push('killed it because it printed too much');
  return lines.map((line) => `hopgate ${line}\n`).join('');
}
