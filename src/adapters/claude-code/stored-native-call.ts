import { isDeepStrictEqual } from 'node:util';
import { asJson } from '../../base/json.ts';
import type { NativeTicket } from '../../session/native/native-steps.ts';
import type { Fields } from '../../spec/types.ts';
import type { ClaudeToolEvent } from './claude-event.ts';
import type { HookEventContext } from './hook-event-context.ts';

/** An allowed call, stored until it has ended. */
export interface StoredNativeCall {
  /** null if hopgate itself runs the call in the session, which records it. */
  readonly ticket: NativeTicket | null;
  readonly input: Fields;
}

export const storeNativeCall = (
  { host, record, event }: HookEventContext<ClaudeToolEvent>,
  call: StoredNativeCall,
): Promise<void> => host.storeForCall(record, event.toolUseId, asJson(call));

export const takeStoredNativeCall = async ({
  host,
  record,
  event,
}: HookEventContext<ClaudeToolEvent>): Promise<StoredNativeCall | null> =>
  (await host.takeForCall(record, event.toolUseId)) as StoredNativeCall | null;

/** True if the client ran the call with other input than hopgate allowed, because another hook changed it. */
export const wasCallInputChanged = ({ input }: StoredNativeCall, ran: ClaudeToolEvent['input']): boolean =>
  Object.keys(ran).length > 0 && Object.keys(input).some((key) => !isDeepStrictEqual(input[key], ran[key]));
