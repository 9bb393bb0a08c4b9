import { textOf } from '../../base/json.ts';
import type { HookDesk, Seat } from '../core/hook-desk.ts';
import { said } from '../core/transcript-items.ts';
import type { HookEvent } from './event.ts';
import { readOwnTranscript } from './own-transcript.ts';

/** The environment of the hook process. */
export type HookEnv = { readonly [name: string]: string | undefined };

/** A handler's place: the event, the seat of its conversation, and the desk. */
export interface Seated<E extends HookEvent = HookEvent> {
  readonly event: E;
  readonly seat: Seat;
  readonly desk: HookDesk;
  /** Of the hook process. */
  readonly env: HookEnv;
}

/**
 * What a seat remembers of a call, beside the client's own names of events: whether it was let through, whether an acting one, and that its end
 * never came.
 */
export const HEARD = {
  allowed: 'PreToolUse',
  acting: 'PreToolUse (acting)',
  denied: 'PreToolUse (denied)',
  done: 'PostToolUse',
  failed: 'PostToolUseFailure',
  refused: 'PostToolUse (refused by the client)',
  missing: 'PostToolUse (missing)',
} as const;

/** Writes into the seat that an event came. */
export const remember = async ({ desk, seat, event }: Seated, name: string, notes?: Seat['notes']): Promise<Seat> =>
  desk.remember(seat, { name, at: new Date().toISOString(), toolUseId: event.toolUseId }, notes);

/**
 * What the agent has said since it was heard last goes into its transcript, as Claude Code has it; its last words come with the event.
 *
 * @returns the notes to remember
 */
export function tellWords({ desk, seat, event }: Seated): Seat['notes'] {
  const last = textOf(event.fields['last_assistant_message']);
  const file = textOf(event.fields[event.name === 'SubagentStop' ? 'agent_transcript_path' : 'transcript_path']);
  const { heard } = seat.notes;
  const { said: words, end } = readOwnTranscript(file ?? '', typeof heard === 'number' ? heard : 0);
  const all = last === null || words.at(-1) === last ? words : [...words, last];
  if (all.length > 0) desk.lived(seat, ...all.map(said));
  return { ...seat.notes, heard: end };
}
