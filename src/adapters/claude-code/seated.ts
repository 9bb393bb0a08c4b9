import type { HookDesk, Seat } from '../core/hook-desk.ts';
import { said } from '../core/transcript-items.ts';
import { type HookEvent, textOf } from './event.ts';

/** A handler's place: the event, the seat of its conversation, and the desk. */
export interface Seated<E extends HookEvent = HookEvent> {
  readonly event: E;
  readonly seat: Seat;
  readonly desk: HookDesk;
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
  missing: 'PostToolUse (missing)',
} as const;

/** Writes into the seat that an event came. */
export const remember = async ({ desk, seat, event }: Seated, name: string, notes?: Seat['notes']): Promise<Seat> =>
  desk.remember(seat, { name, at: new Date().toISOString(), toolUseId: event.toolUseId }, notes);

/** What the agent said last goes into its transcript. */
export function tellLastWords({ desk, seat, event }: Seated): void {
  const words = textOf(event.fields['last_assistant_message']);
  if (words !== null) desk.lived(seat, said(words));
}
