import type { NativeCallOutcome, NativeTicket } from '../../session/native/native-steps.ts';
import { describeFindings } from '../core/describe-findings.ts';
import type { ConversationRecord, HookContext } from '../core/hook-context.ts';
import { entryIdsOrNull, toolResultItem } from '../core/transcript/transcript-items.ts';
import type { CodexHookEvent } from './codex-event.ts';
import { readResultsInCodexLog } from './ran-calls.ts';

export const ticketStorageKey = (toolUseId: string): string => `native ${toolUseId}`;

/** Length to which Codex's text about a call is cut, in characters. */
const MAX_TEXT = 2000;

/** Records the result of an allowed call. Returns the text for the model about its findings; null if there are none. */
export const concludeCodexCall = (
  { tool_use_id, tool_response }: Extract<CodexHookEvent, { hook_event_name: 'PostToolUse' }>,
  host: HookContext,
  record: ConversationRecord,
): Promise<string | null> => conclude(tool_use_id, outcomeOf(tool_response), host, record);

/**
 * Records the allowed calls that ended without a PostToolUse event: Codex sends none if a patch does not fit its file.
 * The result of each is in Codex's log, unless the call still runs.
 */
export async function concludeUnreportedCalls(
  { hook_event_name, transcript_path }: CodexHookEvent,
  host: HookContext,
  record: ConversationRecord,
): Promise<ConversationRecord> {
  const ended = new Set(record.events.filter(({ name }) => ENDS.includes(name)).map(({ toolUseId }) => toolUseId));
  const open = record.events.flatMap(({ name, toolUseId }) =>
    name === ADMITTED && toolUseId !== null && !ended.has(toolUseId) ? toolUseId : [],
  );
  if (open.length === 0) return record;
  const results = readResultsInCodexLog(transcript_path ?? '');
  let now = record;
  for (const toolUseId of open) {
    // A call may still run when a prompt arrives. At the end of a turn no call runs.
    const result = results.get(toolUseId) ?? (hook_event_name.endsWith('Stop') ? 'it was interrupted' : null);
    if (result === null) continue;
    const message = `Codex did not run it: ${result}`.slice(0, MAX_TEXT);
    const hasRun = result.startsWith('Exit code: ');
    const outcome = hasRun ? outcomeOf(result) : { status: 'failed' as const, code: 'client-refused', message };
    await conclude(toolUseId, outcome, host, now);
    now = await host.recordEvent(now, { name: UNREPORTED, at: new Date().toISOString(), toolUseId });
  }
  return now;
}

/** Event names in a conversation's record: an admitted call, and the end of a call that no event of Codex reported. */
export const ADMITTED = 'PreToolUse (admitted)';
const UNREPORTED = 'PostToolUse (missing)';
const ENDS = ['PostToolUse', UNREPORTED];

async function conclude(
  toolUseId: string,
  outcome: NativeCallOutcome,
  host: HookContext,
  record: ConversationRecord,
): Promise<string | null> {
  const ticket = (await host.takeForCall(record, ticketStorageKey(toolUseId))) as NativeTicket | null;
  if (ticket === null) return null;
  const concluded = await host.withSession(record, (session) => session.conclude(ticket, outcome));
  const text = outcome.status === 'ok' ? JSON.stringify(outcome.result) : outcome.message;
  const evidence = entryIdsOrNull(concluded.evidence);
  host.recordTranscript(record, toolResultItem(toolUseId, { status: outcome.status, text, evidence }));
  return describeFindings(concluded);
}

/** The outcome of a call. Codex reports a patch as a text that begins with an exit code. */
function outcomeOf(response: unknown): NativeCallOutcome {
  if (typeof response !== 'string') return { status: 'ok', result: { by: 'codex' } };
  const output = response.slice(0, MAX_TEXT);
  const exit = /^Exit code: (-?\d+)/.exec(response)?.[1];
  if (exit === undefined || exit === '0') return { status: 'ok', result: { by: 'codex', said: output } };
  return { status: 'failed', code: 'client-failed', message: output };
}
