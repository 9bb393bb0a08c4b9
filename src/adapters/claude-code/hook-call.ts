import { textOf } from '../../base/json.ts';
import type { ConversationRecord, HookContext } from '../core/hook-context.ts';
import { assistantMessage } from '../core/transcript/transcript-items.ts';
import type { ClaudeHookEvent } from './event.ts';
import { readOwnTranscript } from './own-transcript.ts';

/** The environment of the hook process. */
export type HookEnv = { readonly [name: string]: string | undefined };

/** A handler's place: the event, the seat of its conversation, and the desk. */
export interface HookCall<E extends ClaudeHookEvent = ClaudeHookEvent> {
  readonly event: E;
  readonly seat: ConversationRecord;
  readonly desk: HookContext;
  /** Of the hook process. */
  readonly env: HookEnv;
}

/**
 * What a seat remembers of a call, beside the client's own names of events: whether it was let through, whether an acting one, and that its end
 * never came.
 */
export const HOOK_EVENT = {
  allowed: 'PreToolUse',
  acting: 'PreToolUse (acting)',
  denied: 'PreToolUse (denied)',
  done: 'PostToolUse',
  failed: 'PostToolUseFailure',
  refused: 'PostToolUse (refused by the client)',
  missing: 'PostToolUse (missing)',
} as const;

/** Writes into the seat that an event came. */
export const recordHookEvent = async (
  { desk, seat, event }: HookCall,
  name: string,
  notes?: ConversationRecord['notes'],
): Promise<ConversationRecord> =>
  desk.recordEvent(seat, { name, at: new Date().toISOString(), toolUseId: event.toolUseId }, notes);

/**
 * What the agent has said since it was heard last goes into its transcript, as Claude Code has it; its last words come with the event.
 *
 * @returns the notes to remember
 */
export function recordWords({ desk, seat, event }: HookCall): ConversationRecord['notes'] {
  const last = textOf(event.fields['last_assistant_message']);
  const file = textOf(event.fields[event.name === 'SubagentStop' ? 'agent_transcript_path' : 'transcript_path']);
  const { heard } = seat.notes;
  const { said: words, end } = readOwnTranscript(file ?? '', typeof heard === 'number' ? heard : 0);
  const all = last === null || words.at(-1) === last ? words : [...words, last];
  if (all.length > 0) desk.recordTranscript(seat, ...all.map(assistantMessage));
  return { ...seat.notes, heard: end };
}
