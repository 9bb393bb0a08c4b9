import { plural } from '../../base/text.ts';
import type { ConversationRecord } from '../core/hook-context.ts';
import type { ClaudeHookEvent } from './claude-event.ts';
import { HOOK_EVENT_NAMES } from './hook-event-context.ts';

type HookEventRecord = ConversationRecord['events'][number];

/** Events at which no call of the conversation can still be running. */
const QUIET = new Set(['Stop', 'SubagentStop', 'SessionEnd']);

/**
 * Finds the hooks that are missing before this event; null if none is.
 *
 * - SessionStart is missing if a main conversation calls tools without it.
 * - The result of an allowed call is missing if it must have ended by now. Read-only calls run in parallel, so their
 *   results are due only when no call can be running; a mutating call runs alone.
 */
export function findMissingHooks(
  event: ClaudeHookEvent,
  record: ConversationRecord,
): { readonly text: string; readonly calls: readonly HookEventRecord[] } | null {
  const texts: string[] = [];
  if (event.name === 'PreToolUse' && event.agentId === null && !isAnnounced(record))
    texts.push('no SessionStart hook was answered: hooks were disabled or took too long when this conversation began');
  const calls = overdueCalls(event, record);
  if (calls.length > 0)
    texts.push(
      `no hook reported the end of ${plural(calls.length, 'allowed call')} (${calls
        .map(({ toolUseId }) => toolUseId)
        .join(', ')}): interrupted, or the hooks were disabled; the outcome is not in the evidence`,
    );
  return texts.length === 0 ? null : { text: texts.join('; '), calls };
}

/** The allowed calls that must have ended before this event, and whose end no hook reported. */
function overdueCalls(event: ClaudeHookEvent, record: ConversationRecord): readonly HookEventRecord[] {
  if (event.name === 'PreToolUse') return openCalls(record, ({ name }) => name === HOOK_EVENT_NAMES.acting);
  return QUIET.has(event.name) ? openCalls(record, () => true) : [];
}

/** The calls whose end is overdue. At a prompt, all open calls: the user may have interrupted them. */
export const findOverdueCalls = (event: ClaudeHookEvent, record: ConversationRecord): readonly HookEventRecord[] =>
  event.name === 'UserPromptSubmit' ? openCalls(record, () => true) : overdueCalls(event, record);

const isAnnounced = ({ notes, events }: ConversationRecord): boolean =>
  notes['announced'] === true || events.some(({ name }) => name === 'SessionStart');

const ENDS: ReadonlySet<string> = new Set([
  HOOK_EVENT_NAMES.done,
  HOOK_EVENT_NAMES.failed,
  HOOK_EVENT_NAMES.missing,
  HOOK_EVENT_NAMES.refused,
]);

function openCalls(
  { events }: ConversationRecord,
  which: (event: HookEventRecord) => boolean,
): readonly HookEventRecord[] {
  const ended = new Set(events.filter(({ name }) => ENDS.has(name)).map(({ toolUseId }) => toolUseId));
  return events.filter(
    (event) =>
      (event.name === HOOK_EVENT_NAMES.allowed || event.name === HOOK_EVENT_NAMES.acting) &&
      event.toolUseId !== null &&
      !ended.has(event.toolUseId) &&
      which(event),
  );
}

/**
 * Adds a warning for the operator to the notes of the conversation's record.
 * @param unshown true to show the warning to the user with the next reply that can carry a message
 */
export function addHookWarning(
  { notes }: ConversationRecord,
  text: string,
  unshown: boolean,
): ConversationRecord['notes'] {
  const earlier = Array.isArray(notes['silent']) ? notes['silent'] : [];
  const silent = [...earlier, { at: new Date().toISOString(), text }].slice(-20);
  return { ...notes, silent, ...(unshown ? { unshown: `hooks stopped answering: ${text}` } : {}) };
}
