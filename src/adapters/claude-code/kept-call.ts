import { isDeepStrictEqual } from 'node:util';
import type { NativeTicket } from '../../session/native/native-ticket.ts';
import type { Json } from '../../spec/types.ts';
import type { ClaudeToolEvent } from './event.ts';
import type { HookCall } from './hook-call.ts';

/** What was let through, until it has ended. */
export interface KeptCall {
  /** null: it runs in the session by itself. */
  readonly ticket: NativeTicket | null;
  /** With which input. */
  readonly input: { readonly [name: string]: Json };
}

export const keepCall = ({ desk, seat, event }: HookCall<ClaudeToolEvent>, call: KeptCall): Promise<void> =>
  desk.storeForCall(seat, event.toolUseId, call as unknown as Json);

export const takeCall = async ({ desk, seat, event }: HookCall<ClaudeToolEvent>): Promise<KeptCall | null> =>
  (await desk.takeForCall(seat, event.toolUseId)) as unknown as KeptCall | null;

/** The client runs what the last of its hooks says: another one may have changed the call after hopgate had let it through. */
export const wasChanged = ({ input }: KeptCall, ran: ClaudeToolEvent['input']): boolean =>
  Object.keys(ran).length > 0 && Object.keys(input).some((key) => !isDeepStrictEqual(input[key], ran[key]));
