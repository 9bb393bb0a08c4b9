import type { EntryDraft } from '../../evidence/entry.ts';
import type { ShortEntryDraft } from '../../ports/evidence-store.ts';
import { makeTimeOrderedId } from '../time-ordered-id.ts';

const isComplete = (draft: EntryDraft | ShortEntryDraft): draft is EntryDraft =>
  draft.id !== undefined &&
  draft.at !== undefined &&
  draft.subject !== undefined &&
  draft.sessionId !== undefined &&
  draft.peripheral !== undefined &&
  draft.mode !== undefined &&
  draft.tags !== undefined;

/** Adds the fields that a short entry leaves out. Given fields stay as they are; the schema check judges them later. */
export function completeShortEntry(draft: EntryDraft | ShortEntryDraft, sessionId: string, now: number): EntryDraft {
  if (draft === null || typeof draft !== 'object' || isComplete(draft)) return draft as EntryDraft;
  const given = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
  return {
    id: `e-${makeTimeOrderedId()}`,
    at: new Date(now).toISOString(),
    subject: { type: 'session', id: sessionId },
    sessionId,
    peripheral: null,
    mode: null,
    tags: [],
    ...(given as unknown as ShortEntryDraft),
  };
}
