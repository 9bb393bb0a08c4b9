import type { Entry } from '../../evidence/entry.ts';
import { toText } from '../convert-input.ts';
import { isSessionClosed } from '../state/session-state.ts';
import type { SessionCalls } from './session-calls.ts';

/** Records a note of the operator. Returns `ok: false` while a client runs a call, and if the session is closed. */
export async function recordOperatorNote(
  { writer }: SessionCalls,
  text: string,
): Promise<{ readonly ok: true; readonly evidence: readonly Entry[] } | { readonly ok: false }> {
  if (writer.state.facts.pending !== null || isSessionClosed(writer.state)) return { ok: false };
  return { ok: true, evidence: await writer.append([{ event: 'note', by: 'operator', text: toText(text) }]) };
}

/** The operator's entries after the entry with the seq `after`, oldest first; see `Session.operatorActs`. */
export async function readOperatorEntries({ parts, writer }: SessionCalls, after: number): Promise<readonly Entry[]> {
  const { operatorActs, sessionId } = writer.state.facts;
  const seqs = operatorActs.filter((seq) => seq > after);
  if (seqs.length === 0) return [];
  const acts: Entry[] = [];
  for await (const { entry } of parts.store.entries(sessionId, { from: seqs[0]! }))
    if (seqs.includes(entry.seq)) acts.push(entry);
  return acts;
}
