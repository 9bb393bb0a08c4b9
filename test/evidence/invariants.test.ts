import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLAIM_TYPES, type ClaimType } from '../../src/evidence/entry.ts';
import { checkInvariants, type Invariant } from '../../src/evidence/invariants.ts';

interface Node {
  readonly id: string;
  readonly at: string;
  readonly claim: ClaimType;
  readonly author: string;
  readonly inReplyTo?: string;
  readonly forkOf?: string;
}

const time = (ms: number): string => new Date(1_700_000_000_000 + ms).toISOString();

/** Random valid trees of at least three entries; times may stand still. */
const trees: fc.Arbitrary<Node[]> = fc
  .array(
    fc.record({
      parent: fc.nat(),
      later: fc.nat({ max: 3 }),
      claim: fc.constantFrom(...CLAIM_TYPES),
      author: fc.constantFrom('a', 'b', 'operator'),
      fork: fc.boolean(),
    }),
    { minLength: 2, maxLength: 25 },
  )
  .map((shapes) => {
    const nodes: Node[] = [{ id: 'e0', at: time(0), claim: 'goal', author: 'a' }];
    let now = 0;
    for (const { parent, later, claim, author, fork } of shapes) {
      now += later;
      const above = nodes[parent % nodes.length]!;
      const twice = claim === 'conclusion' && above.claim === 'conclusion' && !fork;
      nodes.push({
        id: `e${nodes.length}`,
        at: time(now),
        claim: twice ? 'step' : claim,
        author,
        ...(fork ? { forkOf: above.id } : { inReplyTo: above.id }),
      });
    }
    return nodes;
  });

const claimsOf = (nodes: readonly Node[]) => ({
  count: nodes.length,
  participants: [...new Set(nodes.map(({ author }) => author))],
});

const check = (nodes: readonly Node[], claims = claimsOf(nodes)) =>
  checkInvariants(nodes, claims).map(({ rule, entryId }) => `${rule} ${entryId}`);

const swap = (nodes: readonly Node[], index: number, fields: Partial<Node>): Node[] =>
  nodes.map((node, at) => (at === index ? { ...node, ...fields } : node));

const without = <K extends keyof Node>(node: Node, ...keys: K[]): Node =>
  Object.fromEntries(Object.entries(node).filter(([key]) => !keys.includes(key as K))) as unknown as Node;

interface Mutation {
  readonly name: string;
  readonly rule: Invariant;
  /** The damaged tree and the entry at fault; null where the tree has no place for it. */
  readonly make: (nodes: readonly Node[], at: number) => { nodes: Node[]; fault: string; claims?: object } | null;
}

/** An entry that is not the first, by a random number. */
const pick = (nodes: readonly Node[], at: number): number => 1 + (at % (nodes.length - 1));

const relink = (nodes: readonly Node[], index: number, target: string): Node[] =>
  nodes.map((node, at) =>
    at !== index ? node : node.forkOf === undefined ? { ...node, inReplyTo: target } : { ...node, forkOf: target },
  );

const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a reply to an entry that is not there',
    rule: 'tree-validity',
    make: (nodes, at) => ({ nodes: relink(nodes, pick(nodes, at), 'nowhere'), fault: `e${pick(nodes, at)}` }),
  },
  {
    name: 'a reply to itself',
    rule: 'tree-validity',
    make: (nodes, at) => ({
      nodes: relink(nodes, pick(nodes, at), `e${pick(nodes, at)}`),
      fault: `e${pick(nodes, at)}`,
    }),
  },
  {
    name: 'a reply to a later entry (a cycle)',
    rule: 'tree-validity',
    make: (nodes, at) => {
      const index = pick(nodes, at);
      return index === nodes.length - 1
        ? null
        : { nodes: relink(nodes, index, `e${nodes.length - 1}`), fault: `e${index}` };
    },
  },
  {
    name: 'a first entry that is not a goal',
    rule: 'root',
    make: (nodes) => ({ nodes: swap(nodes, 0, { claim: 'step' }), fault: 'e0' }),
  },
  {
    name: 'a first entry that replies',
    rule: 'root',
    make: (nodes) => ({ nodes: swap(nodes, 0, { inReplyTo: 'e1' }), fault: 'e0' }),
  },
  {
    name: 'an entry that replies to nothing',
    rule: 'no-orphans',
    make: (nodes, at) => {
      const index = pick(nodes, at);
      return {
        nodes: nodes.map((node, i) => (i === index ? without(node, 'inReplyTo', 'forkOf') : node)),
        fault: `e${index}`,
      };
    },
  },
  {
    name: 'a conclusion under a conclusion',
    rule: 'claim-ordering',
    make: (nodes) => {
      const last = nodes.length - 1;
      const end = { at: nodes[last]!.at, author: 'a', claim: 'conclusion' } as const;
      return {
        nodes: [...nodes, { ...end, id: 'x', inReplyTo: 'e0' }, { ...end, id: 'y', inReplyTo: 'x' }],
        fault: 'y',
      };
    },
  },
  {
    name: 'an author who is not a participant',
    rule: 'author-tracking',
    make: (nodes) => {
      const next = { id: 'x', at: nodes.at(-1)!.at, claim: 'step', author: 'stranger', inReplyTo: 'e0' } as const;
      return {
        nodes: [...nodes, next],
        fault: 'x',
        claims: { ...claimsOf(nodes), count: nodes.length + 1 },
      };
    },
  },
  {
    name: 'a participant who wrote nothing',
    rule: 'author-tracking',
    make: (nodes) => ({
      nodes: [...nodes],
      fault: `e${nodes.length - 1}`,
      claims: { ...claimsOf(nodes), participants: [...claimsOf(nodes).participants, 'idle'] },
    }),
  },
  {
    name: 'an entry without an author',
    rule: 'author-tracking',
    make: (nodes, at) => {
      const index = pick(nodes, at);
      const damaged = swap(nodes, index, { author: ' ' });
      const { participants } = claimsOf(damaged.filter((_, i) => i !== index));
      return { nodes: damaged, fault: `e${index}`, claims: { count: nodes.length, participants } };
    },
  },
  {
    name: 'an earlier time',
    rule: 'monotonic-time',
    make: (nodes, at) => {
      const index = pick(nodes, at);
      return { nodes: swap(nodes, index, { at: time(-1) }), fault: `e${index}` };
    },
  },
  {
    name: 'no time',
    rule: 'monotonic-time',
    make: (nodes, at) => {
      const index = pick(nodes, at);
      return { nodes: swap(nodes, index, { at: 'yesterday' }), fault: `e${index}` };
    },
  },
  {
    name: 'an entry that is there twice',
    rule: 'entry-count',
    make: (nodes, at) => {
      const index = pick(nodes, at);
      const damaged = [...nodes.slice(0, index + 1), ...nodes.slice(index)];
      return { nodes: damaged, fault: `e${index}`, claims: claimsOf(damaged) };
    },
  },
  {
    name: 'another number than claimed',
    rule: 'entry-count',
    make: (nodes) => ({
      nodes: [...nodes],
      fault: `e${nodes.length - 1}`,
      claims: { ...claimsOf(nodes), count: nodes.length + 1 },
    }),
  },
];

describe('the seven invariants of a thread', () => {
  it('are met by every valid tree', () => {
    fc.assert(
      fc.property(trees, (nodes) => {
        expect(check(nodes)).toEqual([]);
      }),
    );
  });

  it.each(MUTATIONS)('report the fault $name and nothing else', ({ rule, make }) => {
    fc.assert(
      fc.property(trees, fc.nat(), (nodes, at) => {
        const made = make(nodes, at);
        fc.pre(made !== null);
        const claims = (made!.claims as ReturnType<typeof claimsOf>) ?? claimsOf(made!.nodes);
        expect(check(made!.nodes, claims)).toEqual([`${rule} ${made!.fault}`]);
      }),
    );
  });

  it('are each broken by one of the mutations', () => {
    expect(new Set(MUTATIONS.map(({ rule }) => rule)).size).toBe(7);
  });

  it('require a goal, so an empty set breaks them', () => {
    expect(check([], { count: 0, participants: [] })).toEqual(['root ']);
  });
});

describe('the report of a broken invariant', () => {
  const node = (id: string, fields: Partial<Node> = {}): Node => ({
    id,
    at: time(0),
    claim: 'step',
    author: 'a',
    ...fields,
  });
  const root = node('g', { claim: 'goal' });
  const problemsOf = (nodes: readonly Node[], claims = {}) =>
    checkInvariants(nodes, claims).map(({ rule, entryId, message }) => `${rule} ${entryId || '-'}: ${message}`);

  it.each<[readonly Node[], object, readonly string[]]>([
    [[], {}, ['root -: there are no entries, so no goal']],
    [
      [],
      { count: 1 },
      ['root -: there are no entries, so no goal', 'entry-count -: 1 entries are claimed, but there are 0'],
    ],
    [[node('a')], {}, ['root a: the first entry is a step, not a goal']],
    [[{ ...root, inReplyTo: 'x' }], {}, ['root g: the first entry replies to x']],
    [[{ ...root, forkOf: 'y' }], {}, ['root g: the first entry replies to y']],
    [[root, node('a')], {}, ['no-orphans a: the entry replies to nothing: a second root']],
    [
      [root, node('a', { inReplyTo: 'x' })],
      {},
      ['tree-validity a: the entry replies to x, which is not an earlier entry of the checked ones'],
    ],
    [
      [root, node('a', { forkOf: 'x' })],
      {},
      ['tree-validity a: the entry forks x, which is not an earlier entry of the checked ones'],
    ],
    [[root, root], {}, ['entry-count g: the entry occurs twice']],
    [[{ ...root, author: ' ' }], {}, ['author-tracking g: the entry has no author']],
    [[{ ...root, at: 'soon' }], {}, ['monotonic-time g: "soon" is not a time']],
    [
      [{ ...root, at: time(1) }, node('a', { inReplyTo: 'g' })],
      {},
      [`monotonic-time a: ${time(0)} is earlier than ${time(1)} of the entry before it`],
    ],
    [
      [root, node('c', { claim: 'conclusion', inReplyTo: 'g' }), node('d', { claim: 'conclusion', inReplyTo: 'c' })],
      {},
      ['claim-ordering d: a conclusion that replies to the conclusion c'],
    ],
    [[root, node('d', { claim: 'conclusion', forkOf: 'g' })], {}, []],
    [[root], { count: 2 }, ['entry-count g: 2 entries are claimed, but there are 1']],
    [
      [root],
      { participants: ['b'] },
      [
        'author-tracking g: a wrote an entry and is not a participant',
        'author-tracking g: b is a participant and wrote no entry',
      ],
    ],
    [[root], {}, []],
  ])('names entry and fault: case %#', (nodes, claims, problems) =>
    expect(problemsOf(nodes, claims)).toEqual(problems),
  );
});
