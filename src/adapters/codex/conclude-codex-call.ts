import type { NativeCallOutcome, NativeTicket } from '../../session/native/native-ticket.ts';
import { describeFindings } from '../core/describe-findings.ts';
import type { ConversationRecord, HookContext } from '../core/hook-context.ts';
import { entryIdsOrNull, toolResultItem } from '../core/transcript/transcript-items.ts';
import type { CodexHookEvent } from './codex-event.ts';
import { ticketStorageKey } from './decide-codex-call.ts';

/** Length to which Codex's text about a call is cut, in characters. */
const MAX_TEXT = 2000;

/** Records the result of an allowed call. Returns the text for the model about its findings; null if there are none. */
export async function concludeCodexCall(
  { tool_use_id, tool_response }: Extract<CodexHookEvent, { hook_event_name: 'PostToolUse' }>,
  host: HookContext,
  record: ConversationRecord,
): Promise<string | null> {
  const ticket = (await host.takeForCall(record, ticketStorageKey(tool_use_id))) as NativeTicket | null;
  if (ticket === null) return null;
  const outcome = outcomeOf(tool_response);
  const concluded = await host.withSession(record, (session) => session.conclude(ticket, outcome));
  const text = outcome.status === 'ok' ? JSON.stringify(outcome.result) : outcome.message;
  const evidence = entryIdsOrNull(concluded.evidence);
  host.recordTranscript(record, toolResultItem(tool_use_id, { status: outcome.status, text, evidence }));
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
