import { describe, expect, it } from 'vitest';
import type { AuditRule } from '../../src/audit/rules/rule-problem.ts';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import type { ApprovalBody } from '../../src/evidence/bodies.ts';
import { buildChainedEntries } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN, type Entry, type EntryDraft, type StoredEntry } from '../../src/evidence/entry.ts';
import { type ApprovalSubject, approvalHash } from '../../src/gate/approvals/approval.ts';
import type { Json } from '../../src/spec/types.ts';
import { sample } from '../depth.ts';
import { answering, CONFIG, fivePeripherals, SPECS, world } from './audited-session.ts';

const PINNED = { specs: SPECS, config: CONFIG };

async function honest(): Promise<StoredEntry[]> {
  const at = await world();
  await fivePeripherals(at);
  return Array.fromAsync(at.store.entries(at.session.id));
}
const LOG = await honest();

const draftOf = ({ seq, bodyHash, prev, hash, ...draft }: Entry): EntryDraft => draft;
type Event = { readonly [name: string]: Json };
const body = ({ entry }: StoredEntry): Event => entry.body as Event;
const find = (event: string, nth = 0): number => {
  const found = LOG.flatMap((stored, index) => (body(stored)['event'] === event ? [index] : []));
  return found.at(nth)!;
};

/** The log with some entries changed and all hashes recomputed: only its meaning can reveal the change. */
function forge(change: (drafts: EntryDraft[]) => EntryDraft[]): StoredEntry[] {
  return buildChainedEntries(EMPTY_CHAIN, change(LOG.map(({ entry }) => draftOf(entry))));
}
const at = (index: number, fields: Partial<EntryDraft>) => (drafts: EntryDraft[]) =>
  drafts.map((draft, i) => (i === index ? { ...draft, ...fields } : draft));
const bodyAt = (index: number, fields: Event) => at(index, { body: { ...body(LOG[index]!), ...fields } });
/** Removes an entry, and links its replies to the entry that it replied to. */
const without = (index: number) => (drafts: EntryDraft[]) => {
  const { id, inReplyTo } = drafts[index]!;
  return drafts
    .filter((_, i) => i !== index)
    .map((draft) => (draft.inReplyTo === id ? { ...draft, inReplyTo: inReplyTo! } : draft));
};
const cutBetween = (from: number, to: number) => (drafts: EntryDraft[]) => drafts.filter((_, i) => i < from || i >= to);

interface Forgery {
  readonly name: string;
  readonly rule: AuditRule;
  readonly says: string;
  readonly make: (drafts: EntryDraft[]) => EntryDraft[];
}

const FORGED: readonly Forgery[] = [
  {
    name: 'a forged step of a tool that the peripheral does not have',
    rule: 'tool',
    says: 'web-fetch was used in ',
    make: bodyAt(find('step', -1), { tool: 'web-fetch', args: { url: 'https://docs.example.com' } }),
  },
  {
    name: 'a widened path',
    rule: 'scope',
    says: '"/etc/passwd": the path leads out of the root',
    make: bodyAt(find('intent'), { args: { path: '/etc/passwd', old: 'a', new: 'b' } }),
  },
  {
    name: 'a widened effect',
    rule: 'effect',
    says: 'modify of hopgate.yaml was observed',
    make: bodyAt(find('outcome'), { effects: [{ path: 'hopgate.yaml', op: 'modify' }] }),
  },
  {
    name: 'an approval used again',
    rule: 'approval',
    says: 'was used before',
    make: (drafts) => {
      const first = (body(LOG[find('approval', 0)]!)['record'] as Event)['id']!;
      return bodyAt(find('hop', 2), { approval: first })(drafts);
    },
  },
  {
    name: 'the record of an approval again',
    rule: 'approval',
    says: 'was used before',
    make: (drafts) => {
      const { body: again } = LOG[find('approval', 0)]!.entry;
      return at(find('approval', 1), { body: again })(drafts);
    },
  },
  {
    name: 'an approval of something else',
    rule: 'approval',
    says: 'requestHash does not match the recorded request',
    make: (drafts) => {
      const index = find('approval', 1);
      const request = body(LOG[index]!)['request'] as Event;
      return bodyAt(index, { request: { ...request, reason: 'nothing' } })(drafts);
    },
  },
  {
    name: 'an approval whose view shows what no entry shows',
    rule: 'approval',
    says: '"risk" of the approved act is nothing',
    make: (drafts) => {
      const index = find('approval', 1);
      const { record, request, ...rest } = body(LOG[index]!) as unknown as ApprovalBody;
      const view = { ...request.view, risk: 'none' };
      const requestHash = approvalHash({ ...request, sessionId: record.sessionId, view } as unknown as ApprovalSubject);
      return bodyAt(index, {
        ...rest,
        request: { ...request, view },
        record: { ...record, requestHash },
      } as unknown as Event)(drafts);
    },
  },
  {
    name: 'an approval that was left out',
    rule: 'approval',
    says: 'does not exist',
    make: without(find('approval', 1)),
  },
  {
    name: 'an approval that had expired',
    rule: 'approval',
    says: 'the approval was used at',
    make: (drafts) => {
      const index = find('approval', 1);
      const record = body(LOG[index]!)['record'] as Event;
      return bodyAt(index, { record: { ...record, expiresAt: '2026-01-31T09:00:00.000Z' } })(drafts);
    },
  },
  {
    name: 'an approval of another session',
    rule: 'approval',
    says: 'the approval was given for session other',
    make: (drafts) => {
      const index = find('approval', 1);
      const record = body(LOG[index]!)['record'] as Event;
      return bodyAt(index, { record: { ...record, sessionId: 'other' } })(drafts);
    },
  },
  {
    name: 'a fruit of the wrong shape',
    rule: 'fruit',
    says: 'test-count is "many", which is not of this type',
    make: (drafts) => {
      const index = find('stop', 2);
      return bodyAt(index, { fruit: { ...(body(LOG[index]!)['fruit'] as Event), 'test-count': 'many' } })(drafts);
    },
  },
  {
    name: 'a fruit that was not observed',
    rule: 'fruit',
    says: 'changes is 7, but the evidence shows 2',
    make: (drafts) => {
      const index = find('stop', 1);
      return bodyAt(index, { fruit: { ...(body(LOG[index]!)['fruit'] as Event), changes: 7 } })(drafts);
    },
  },
  {
    name: 'a hop that no edge allows',
    rule: 'edge',
    says: 'a hop to deploy by ready-to-edit',
    make: bodyAt(find('hop', 0), { to: 'deploy' }),
  },
  {
    name: 'a changed author',
    rule: 'author',
    says: 'the author is "somebody"',
    make: at(find('step'), { author: 'somebody' }),
  },
  {
    name: 'an earlier time',
    rule: 'time',
    says: 'the entry is earlier: 2020-01-01T00:00:00.000Z',
    make: at(find('step'), { at: '2020-01-01T00:00:00.000Z' }),
  },
  {
    name: 'a removed denial',
    rule: 'reply',
    says: 'the inReplyTo of the entry is',
    make: (drafts) => drafts.filter((_, i) => i !== find('denial', 0)),
  },
  {
    name: 'a step of another session',
    rule: 'one-session',
    says: 'the session of the entry is "other"',
    make: at(find('step'), { sessionId: 'other' }),
  },
  {
    name: 'another claim',
    rule: 'claim',
    says: 'the claim of step is "conclusion"',
    make: at(find('step'), { claim: 'conclusion' }),
  },
  {
    name: 'a stop that is not a conclusion',
    rule: 'conclusion-last',
    says: 'the claim of stop is "step"',
    make: at(find('stop'), { claim: 'step' }),
  },
  {
    name: 'another type of evidence',
    rule: 'evidence-type',
    says: 'the type of step is "reflection"',
    make: at(find('step'), { type: 'reflection' }),
  },
  {
    name: 'another place',
    rule: 'peripheral',
    says: 'the peripheral of the entry is "deploy"',
    make: at(find('step'), { peripheral: 'deploy' }),
  },
  {
    name: 'another mode',
    rule: 'mode',
    says: 'the mode of the entry is "execute"',
    make: at(find('step'), { mode: 'execute' }),
  },
  {
    name: 'another parent',
    rule: 'reply',
    says: 'the inReplyTo of the entry is "entry-',
    make: at(find('outcome'), { inReplyTo: LOG[0]!.entry.id }),
  },
  {
    name: 'a foreign subject',
    rule: 'subject',
    says: 'the subject is {"id":"other","type":"session"}',
    make: at(find('step'), { subject: { type: 'session', id: 'other' } }),
  },
  {
    name: 'removed tags',
    rule: 'tags',
    says: 'the list of tags is []',
    make: at(find('denial'), { tags: [] }),
  },
  {
    name: 'the tag of another event',
    rule: 'tags',
    says: 'the list of tags is ["peripheral","explore","step"]',
    make: at(find('denial'), { tags: ['peripheral', 'explore', 'step'] }),
  },
  {
    name: 'a refusal of an allowed call',
    rule: 'refusal',
    says: 'the call was refused: out-of-scope',
    make: bodyAt(find('denial', 1), { request: { kind: 'hop', to: 'edit', reason: 'x', exit: 'ready-to-edit' } }),
  },
  {
    name: 'a refusal for another reason',
    rule: 'refusal',
    says: 'the call was refused: limit-reached',
    make: bodyAt(find('denial', 1), { code: 'limit-reached' }),
  },
  {
    name: 'a false reframe',
    rule: 'reframe',
    says: 'the reframe is {"actual":"fail","expected":"pass"',
    make: bodyAt(find('hop', 1), { reframe: { expected: 'pass', actual: 'fail', shownBy: null } }),
  },
  {
    name: 'a first entry that opens nothing',
    rule: 'goal-first',
    says: 'the first entry records start',
    make: (drafts) => drafts.slice(1),
  },
  {
    name: 'an outcome without its intent',
    rule: 'intent',
    says: 'the outcome has no intent',
    make: without(find('intent')),
  },
  {
    name: 'an intent without its outcome',
    rule: 'intent',
    says: 'came between the intent and its outcome',
    make: without(find('outcome')),
  },
  { name: 'a hop without its stop', rule: 'lifecycle', says: 'has no stop before it', make: without(find('stop', 1)) },
  {
    name: 'a start without its hop',
    rule: 'entry',
    says: 'was entered after the visits',
    make: (drafts) => without(find('hop', 0))(drafts),
  },
  {
    name: 'facts that were not so',
    rule: 'facts',
    says: 'the fact naturalClose is false',
    make: (drafts) => {
      const index = find('hop', 0);
      return bodyAt(index, { facts: { ...(body(LOG[index]!)['facts'] as Event), naturalClose: false } })(drafts);
    },
  },
  {
    name: 'a context that its sources do not hold',
    rule: 'context',
    says: 'target-files is ["secret.ts"]',
    make: (drafts) => {
      const index = find('start', 1);
      return bodyAt(index, { context: { ...(body(LOG[index]!)['context'] as Event), 'target-files': ['secret.ts'] } })(
        drafts,
      );
    },
  },
  {
    name: 'another spec',
    rule: 'pin',
    says: 'the session was opened under',
    make: bodyAt(0, { specHash: '0'.repeat(64) }),
  },
  {
    name: 'entries after the end',
    rule: 'lifecycle',
    says: 'this entry follows the end of the session',
    make: (drafts) => [...drafts, { ...drafts.at(-1)!, id: 'more', inReplyTo: drafts.at(-1)!.id }],
  },
  {
    name: 'a visit cut out with everything that passed the tests',
    rule: 'condition',
    says: 'deploy was entered while the condition did not hold',
    make: (drafts) => cutBetween(find('step', -3), find('step', -3) + 1)(drafts),
  },
];

describe('an altered log with a recomputed chain', () => {
  it.each(FORGED)('is refused: $name', async ({ rule, says, make }) => {
    const { ok, violations } = await verifyConstraints(PINNED, forge(make));
    expect(ok).toBe(false);
    expect(violations.map((one) => `${one.rule}: ${one.message}`)).toContainEqual(
      expect.stringMatching(new RegExp(`^${rule}: .*${says.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)),
    );
  });

  it('is clean if the chain was recomputed and nothing was altered', async () => {
    expect(
      await verifyConstraints(
        PINNED,
        forge((drafts) => drafts),
      ),
    ).toMatchObject({ ok: true, violations: [], gaps: [] });
  });
});

describe('an entry body with an unexpected shape', () => {
  const values: readonly (Json | undefined)[] = [undefined, null, 7, 'x', [], {}, true];
  it('is reported as a violation or a gap, and causes no exception', async () => {
    for (const [index, stored] of sample([...LOG.entries()], 24)) {
      for (const field of Object.keys(body(stored))) {
        for (const value of values) {
          const { [field]: _, ...others } = body(stored);
          const changed = value === undefined ? others : { ...others, [field]: value };
          const result = await verifyConstraints(PINNED, forge(at(index, { body: changed })));
          expect(result.counts.entries).toBe(LOG.length);
        }
      }
    }
  });

  it('is reported with the field', async () => {
    const { violations } = await verifyConstraints(PINNED, forge(bodyAt(find('outcome'), { effects: 'none' })));
    expect(violations).toContainEqual(expect.objectContaining({ message: 'effects is missing, or of another type' }));
  });
});

describe('a log that was altered without a new chain', () => {
  it.each(LOG.map((_, index) => index))('is damaged if entry %i is removed', async (index) => {
    const result = await verifySession(LOG[0]!.entry.sessionId, PINNED, LOG.toSpliced(index, 1));
    expect(result.ok || index === LOG.length - 1).toBe(index === LOG.length - 1);
    if (index < LOG.length - 1) expect(result.chain.map(({ rule }) => rule)).toContain('seq');
  });

  it('is reported with entry, tool, argument and constraint', async () => {
    const index = find('intent');
    const { violations } = await verifyConstraints(
      PINNED,
      forge(bodyAt(index, { args: { path: 'etc/x', old: 'a', new: 'b' } })),
    );
    expect(violations).toContainEqual({
      rule: 'scope',
      entryId: LOG[index]!.entry.id,
      seq: index,
      tool: 'edit',
      argument: 'path',
      constraint: 'write: src/, docs/, scripts/',
      message: '"etc/x": the path is outside of the paths that may be written',
    });
  });
});

describe('a gap is reported', () => {
  it('for effects that nobody observed', async () => {
    const usual = answering();
    const at = await world({
      backend: { ...usual, run: async (call) => ({ ...(await usual.run(call)), effects: 'unobserved' }) },
    });
    await fivePeripherals(at);
    const { gaps, counts } = await verifyConstraints(at, at.store.entries(at.session.id));
    expect(gaps.filter(({ kind }) => kind === 'unobserved')).toHaveLength(counts.steps);
  });

  it('for commands without a sandbox', async () => {
    const at = await world({ unsafeNoSandbox: true });
    await fivePeripherals(at);
    const { gaps } = await verifyConstraints(at, at.store.entries(at.session.id));
    expect(gaps.map(({ kind, tool }) => `${kind} ${tool}`)).toEqual([
      'unobserved bash',
      'unobserved bash-test',
      'unobserved bash-git',
      'unobserved bash-git',
    ]);
  });

  it('for a push that no git reference confirms', async () => {
    const at = (drafts: EntryDraft[]) => bodyAt(find('outcome', -1), { effects: [] })(drafts);
    const { gaps } = await verifyConstraints(PINNED, forge(at));
    expect(gaps).toMatchObject([{ kind: 'unconfirmed', tool: 'bash-git' }]);
  });

  it('for an erased body and everything that depends on it', async () => {
    const index = find('step', 1);
    const erased = LOG.map((stored, i) =>
      i === index ? { ...stored, entry: { ...stored.entry, body: null }, body: null } : stored,
    );
    const result = await verifySession(LOG[0]!.entry.sessionId, PINNED, erased);
    expect(result).toMatchObject({ ok: true, chain: [] });
    expect(result.audit.gaps[0]).toMatchObject({ kind: 'erased', seq: index });
  });

  it('for evidence that ends within a visit', async () => {
    const index = find('intent', 0) + 1;
    const { ok, gaps } = await verifyConstraints(PINNED, LOG.slice(0, index));
    expect(ok).toBe(true);
    expect(gaps.map(({ kind }) => kind)).toEqual(['no-outcome', 'open-visit']);
  });
});

it('the audit finds a removed and a changed reframe', async () => {
  const on = await world({ backend: answering({ verdict: 'fail' }) });
  const { session } = on;
  await session.start('explore');
  await session.setMode({ to: 'diagnose' });
  await session.step({ tool: 'grep', args: { pattern: 'x' } });
  await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'found it' });
  await session.setMode({ to: 'execute', exitCriteria: 'the tests pass', reason: 'fix' });
  await session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } });
  await session.hop({ to: 'test', exit: 'hop-test', reason: 'try it', fruit: { 'commit-message': 'Fix it' } });
  await session.step({ tool: 'bash-test' });
  const back = await session.hop({ to: 'edit', reason: 'fail' });
  expect(back.ok).toBe(true);
  const log = await Array.fromAsync(on.store.entries(session.id));
  const forged = (change: (reframe: Event) => Event | undefined) => {
    const drafts = log.map(({ entry }): EntryDraft => {
      const { reframe, ...rest } = entry.body as Event;
      if (reframe === undefined) return draftOf(entry);
      const changed = change(reframe as Event);
      return { ...draftOf(entry), body: changed ? { ...rest, reframe: changed } : rest };
    });
    return verifyConstraints(PINNED, buildChainedEntries(EMPTY_CHAIN, drafts));
  };
  expect((await forged((reframe) => reframe)).violations).toEqual([]);
  for (const change of [
    () => undefined,
    (reframe: Event) => ({ ...reframe, actual: 'unknown' }),
    (reframe: Event) => ({ ...reframe, shownBy: 'entry-1' }),
  ])
    expect((await forged(change)).violations).toMatchObject([{ rule: 'reframe' }]);
});
