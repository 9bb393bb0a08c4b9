import type { EntryDraft } from '../../src/evidence/entry.ts';

const START = Date.parse('2026-01-31T09:00:00.000Z');

/** A valid draft; give what the test is about. */
export function draft(fields: Partial<EntryDraft> & { id: string }): EntryDraft {
  const sessionId = fields.sessionId ?? 's-1';
  return {
    at: '2026-01-31T09:00:00.000Z',
    type: 'coordination',
    claim: 'step',
    subject: { type: 'session', id: sessionId },
    author: 'agent-1',
    sessionId,
    peripheral: 'edit',
    mode: 'execute',
    body: { event: 'step', tool: 'read', args: { path: 'src/a.ts' } },
    tags: ['edit'],
    ...fields,
  };
}

export const opening = (sessionId: string, fields: Partial<EntryDraft> = {}): EntryDraft =>
  draft({
    id: `${sessionId}-open`,
    sessionId,
    claim: 'goal',
    peripheral: null,
    body: { event: 'session-open', agent: 'agent-1', pin: 'f'.repeat(64) },
    ...fields,
  });

export const closing = (sessionId: string, fields: Partial<EntryDraft> = {}): EntryDraft =>
  draft({
    id: `${sessionId}-close`,
    sessionId,
    claim: 'observation',
    peripheral: null,
    body: { event: 'session-closed' },
    inReplyTo: `${sessionId}-open`,
    ...fields,
  });

/** The opening and `count` steps under it. */
export const conversation = (sessionId: string, count: number): EntryDraft[] => [
  opening(sessionId),
  ...Array.from({ length: count }, (_, index) =>
    draft({
      id: `${sessionId}-${index}`,
      sessionId,
      at: new Date(START + (index + 1) * 1000).toISOString(),
      inReplyTo: index === 0 ? `${sessionId}-open` : `${sessionId}-${index - 1}`,
    }),
  ),
];
