import type { ConversationRecord } from '../core/hook-context.ts';
import type { ClaudeHookEvent } from './event.ts';
import { HOOK_EVENT } from './hook-call.ts';

type Heard = ConversationRecord['events'][number];

/** Hooks that ought to have been heard of before an event, and were not. */
export interface MissingHooks {
  /** For the person at the client. */
  readonly text: string;
  /** The calls whose end is missing. */
  readonly calls: readonly Heard[];
}

/** Events at which no call of the conversation can be under way any more. */
const QUIET = new Set(['UserPromptSubmit', 'Stop', 'SubagentStop', 'SessionEnd']);

/**
 * Whether hooks fell silent before this event: a main conversation that calls tools and never announced itself, or a call that was let through and
 * whose end nobody reported. Calls that only look run side by side, so that their ends are missed only once nothing can be under way; an acting
 * one runs alone.
 */
export function missingHooksBefore(event: ClaudeHookEvent, seat: ConversationRecord): MissingHooks | null {
  const texts: string[] = [];
  if (event.name === 'PreToolUse' && event.agentId === null && !announced(seat))
    texts.push('this conversation never announced itself (no SessionStart): its hooks were off when it began');
  const calls = overdue(event, seat);
  if (calls.length > 0)
    texts.push(
      `${calls.length === 1 ? 'a call was' : `${calls.length} calls were`} let through and no hook told how it ended (${calls
        .map(({ toolUseId }) => toolUseId)
        .join(', ')}): it was broken off, or hooks were off meanwhile; its outcome is not in the evidence`,
    );
  return texts.length === 0 ? null : { text: texts.join('; '), calls };
}

/** The calls that were let through, must have ended before this event, and did not as far as any hook told. */
export function overdue(event: ClaudeHookEvent, seat: ConversationRecord): readonly Heard[] {
  if (event.name === 'PreToolUse') return openCalls(seat, ({ name }) => name === HOOK_EVENT.acting);
  return QUIET.has(event.name) ? openCalls(seat, () => true) : [];
}

const announced = ({ notes, events }: ConversationRecord): boolean =>
  notes['announced'] === true || events.some(({ name }) => name === 'SessionStart');

const ENDS: ReadonlySet<string> = new Set([HOOK_EVENT.done, HOOK_EVENT.failed, HOOK_EVENT.missing, HOOK_EVENT.refused]);

function openCalls({ events }: ConversationRecord, which: (heard: Heard) => boolean): readonly Heard[] {
  const ended = new Set(events.filter(({ name }) => ENDS.has(name)).map(({ toolUseId }) => toolUseId));
  return events.filter(
    (heard) =>
      (heard.name === HOOK_EVENT.allowed || heard.name === HOOK_EVENT.acting) &&
      heard.toolUseId !== null &&
      !ended.has(heard.toolUseId) &&
      which(heard),
  );
}

/** The seat's notes with one more thing that the operator has to know. @param untold it waits for an answer that has room for it */
export function addWarning({ notes }: ConversationRecord, text: string, untold: boolean): ConversationRecord['notes'] {
  const earlier = Array.isArray(notes['silent']) ? notes['silent'] : [];
  const silent = [...earlier, { at: new Date().toISOString(), text }].slice(-20);
  return { ...notes, silent, ...(untold ? { untold: `hooks fell silent: ${text}` } : {}) };
}
