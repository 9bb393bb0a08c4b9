import type { RefusedCall } from '../../session/call-results.ts';
import type { NativeCall } from '../../session/native/native-steps.ts';
import type { Session } from '../../session/session.ts';
import type { HopgateToolCall } from './calls/tool-call-to-action.ts';
import type { ConversationRecord, HookContext } from './hook-context.ts';

/** Decides a call without running it, by the envelopes of its session and of the parent session. Records a refusal. */
export async function dryRunCall(
  { host, record }: { readonly host: HookContext; readonly record: ConversationRecord },
  { tool, args }: HopgateToolCall,
): Promise<RefusedCall | null> {
  const call = { tool, args };
  const own = await host.withSession(record, async (session) => session.why(call) && recordCallRefusal(session, call));
  if (own) return own;
  const above = await host.denialByParent(record, call);
  return above && host.withSession(record, (session) => recordCallRefusal(session, { ...call, above }));
}

/** Records the refusal of a call in the evidence; null if the call is allowed in the meantime. */
export async function recordCallRefusal(session: Session, call: NativeCall): Promise<RefusedCall | null> {
  const admitted = await session.admit(call);
  return admitted.ok ? null : admitted;
}
