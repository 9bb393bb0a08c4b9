import { describe, expect, it } from 'vitest';
import { buildChainedEntries } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN, type Entry, type EntryDraft } from '../../src/evidence/entry.ts';
import { checkInvariants } from '../../src/evidence/invariants.ts';
import { buildThread } from '../../src/evidence/threads.ts';
import type { Json } from '../../src/spec/types.ts';
import { fivePeripherals, world } from '../audit/audited-session.ts';
import { draft } from './drafts.ts';

const SUBJECT = { type: 'mission', id: 'm-1' } as const;
const START = Date.parse('2026-01-31T09:00:00.000Z');
const HOUR = 3_600_000;

/** One entry a minute about the mission, in the order given. */
const entriesOf = (...drafts: (Partial<EntryDraft> & { id: string })[]): Entry[] =>
  buildChainedEntries(
    EMPTY_CHAIN,
    drafts.map((fields, minute) =>
      draft({ subject: SUBJECT, at: new Date(START + minute * 60_000).toISOString(), body: {}, ...fields }),
    ),
  ).map(({ entry }) => entry);

const project = (entries: readonly Entry[], hours = 1) => buildThread(entries, SUBJECT, { now: START + hours * HOUR });

const goal = { id: 'g', claim: 'goal' } as const;

describe('a thread', () => {
  it('contains the entries about its subject, the participants and its goal', () => {
    const thread = project(
      entriesOf(
        goal,
        { id: 'a', inReplyTo: 'g', author: 'b' },
        { id: 'x', inReplyTo: 'g', subject: { type: 'mission', id: 'm-2' } },
      ),
    );
    expect(thread).toMatchObject({
      id: 'thread/mission/m-1',
      goal: { id: 'g' },
      count: 2,
      participants: ['agent-1', 'b'],
    });
    expect(thread?.entries.map(({ id }) => id)).toEqual(['g', 'a']);
  });

  it('does not exist without a goal', () => expect(project(entriesOf({ id: 'a' }))).toBeNull());

  it('is open, and stalled after a configurable time', () => {
    const entries = entriesOf(goal, { id: 'a', inReplyTo: 'g' });
    expect(project(entries)?.status).toBe('open');
    expect(project(entries, 25)?.status).toBe('stalled');
    expect(buildThread(entries, SUBJECT, { now: START + HOUR, staleAfter: 60_000 })?.status).toBe('stalled');
  });

  it('is closed by a last entry that concludes it, and open again after another entry', () => {
    const entries = entriesOf(goal, { id: 'a', inReplyTo: 'g' }, { id: 'c', claim: 'conclusion', inReplyTo: 'a' });
    expect(project(entries, 99)?.status).toBe('closed');
    const more = entriesOf(
      goal,
      { id: 'c', claim: 'conclusion', inReplyTo: 'g' },
      { id: 'o', claim: 'observation', inReplyTo: 'c' },
      { id: 'n', inReplyTo: 'c' },
    );
    expect(project(more.slice(0, 3))?.status).toBe('closed');
    expect(project(more)?.status).toBe('open');
  });

  it('has the forks of one entry as separate threads', () => {
    const thread = project(
      entriesOf(
        goal,
        { id: 'a', inReplyTo: 'g' },
        { id: 'left', forkOf: 'a' },
        { id: 'right', forkOf: 'a' },
        { id: 'left-2', inReplyTo: 'left', claim: 'conclusion' },
        { id: 'right-2', inReplyTo: 'right' },
        { id: 'right-fork', forkOf: 'right' },
        { id: 'b', inReplyTo: 'a' },
      ),
    );
    expect(thread?.status).toBe('forked');
    const forks = thread?.forks.map(({ id, entries, status }) => [
      id.split('/').at(-1),
      entries.map((one) => one.id).join(' '),
      status,
    ]);
    expect(forks).toEqual([
      ['left', 'g a left left-2', 'closed'],
      ['right', 'g a right right-2 right-fork', 'forked'],
      ['right-fork', 'g a right right-fork', 'open'],
    ]);
    expect(thread?.forks[1]?.forks.map(({ id }) => id.split('/').at(-1))).toEqual(['right-fork']);
  });

  it('has the outcome of each conjecture', () => {
    const thread = project(
      entriesOf(
        goal,
        { id: 'c1', claim: 'conjecture', inReplyTo: 'g' },
        { id: 'c2', conjecture: true, inReplyTo: 'g' },
        { id: 'c3', type: 'conjecture', inReplyTo: 'g' },
        { id: 'yes', claim: 'conclusion', inReplyTo: 'c1' },
        { id: 'yes-2', claim: 'conclusion', inReplyTo: 'c2' },
        { id: 'no', type: 'correction', inReplyTo: 'c2' },
      ),
    );
    expect(thread?.conjectures.map(({ entry, outcome, by }) => [entry.id, outcome, by])).toEqual([
      ['c1', 'confirmed', ['yes']],
      ['c2', 'refuted', ['no']],
      ['c3', 'open', []],
    ]);
  });

  it.each<[Json, string]>([
    [{ outcome: 'success' }, 'success'],
    [{ outcome: ':partial' }, 'partial'],
    [{ outcome: 'failed' }, 'failed'],
    [{ outcome: 'pivoted' }, 'pivoted'],
    [{ outcome: 'deferred' }, 'deferred'],
    [{ 'success?': true }, 'success'],
    [{ success: false }, 'failed'],
    [{ ok: true }, 'success'],
    [{ held: false }, 'failed'],
    [{ status: 'Succeeded' }, 'success'],
  ])('counts a pattern with the outcome %j', (body, word) => {
    const pattern = { patternId: 'small-steps' };
    const thread = project(
      entriesOf(
        goal,
        { id: 'psr', type: 'pattern-selection', inReplyTo: 'g', ...pattern },
        { id: 'pur', type: 'pattern-outcome', claim: 'conclusion', inReplyTo: 'psr', body, ...pattern },
      ),
    );
    expect(thread?.patterns).toMatchObject([
      { patternId: 'small-steps', applied: 2, lastOutcome: word, outcomes: { [word]: 1 } },
    ]);
  });

  it('counts no outcome without a verdict', () => {
    const thread = project(
      entriesOf(goal, { id: 'p', type: 'pattern-outcome', patternId: 'p', inReplyTo: 'g', body: { notes: 'success' } }),
    );
    expect(thread?.patterns[0]).toMatchObject({ lastOutcome: null, outcomes: { success: 0 } });
  });
});

it('a session through five peripherals is one rooted tree', async () => {
  const at = await world();
  await fivePeripherals(at);
  const entries = [...(await at.session.evidence())];
  const thread = buildThread(entries, { type: 'session', id: at.session.id }, { now: START })!;
  expect(thread).toMatchObject({ status: 'closed', goal: { id: entries[0]!.id }, count: entries.length, forks: [] });
  expect(thread.participants).toEqual(['agent-1', 'op']);
  expect(checkInvariants(thread.entries, { count: thread.count, participants: thread.participants })).toEqual([]);
});
