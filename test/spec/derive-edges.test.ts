import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDelegationEdge } from '../../src/spec/resolve/derive-edges.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { SpecSet } from '../../src/spec/types.ts';

const IDS = ['a', 'b', 'c', 'd'] as const;
const SOURCES = [
  'default',
  'from-any',
  'user-request',
  'agent-request',
  'session-close',
  ...IDS.map((id) => `from-${id}`),
];
const SCOPES = {
  file: 'scopes.yaml',
  text: 'scopes: { none: { read: none, write: [], command: none, url: none } }',
};

interface Draft {
  readonly entry: readonly string[];
  /** An exit with its destinations; null in the plain form. */
  readonly exits: { readonly [exit: string]: readonly string[] | null };
}
type Drafts = { readonly [id: string]: Draft };

const exitName = fc.constantFrom('done', 'stuck', 'out', 'user-request');
const entry = fc.uniqueArray(fc.constantFrom(...SOURCES), { minLength: 1, maxLength: 4 });
const bound = fc.dictionary(exitName, fc.uniqueArray(fc.constantFrom(...IDS), { minLength: 1, maxLength: 3 }), {
  noNullPrototype: true,
});
const plain = fc
  .uniqueArray(fc.oneof(exitName, fc.constantFrom(...IDS.map((id) => `hop-${id}`))), { maxLength: 4 })
  .map((names) => Object.fromEntries(names.map((name) => [name, null])));
const drafts: fc.Arbitrary<Drafts> = fc
  .tuple(...IDS.map(() => fc.record({ entry, exits: fc.oneof(bound, plain) })))
  .map((list) => Object.fromEntries(list.map((draft, index) => [IDS[index]!, draft])));

function load(authored: Drafts): SpecSet {
  const sources = Object.entries(authored).map(([id, { entry, exits }]) => {
    const isPlain = Object.values(exits).every((opens) => opens === null);
    const exit = isPlain ? Object.keys(exits) : exits;
    const text = JSON.stringify({ id, purpose: 'Test.', tools: [], scope: 'none', entry, exit });
    return { file: `peripherals/${id}.yaml`, text };
  });
  const parsed = parseSpecSet([SCOPES, ...sources]);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.specs;
}

/** The rule written again, as an independent check. */
function expected(authored: Drafts): string[] {
  const admits = (to: string, from: string, ...more: string[]) =>
    authored[to]!.entry.some((source) => [`from-${from}`, 'from-any', ...more].includes(source));
  const all = IDS.flatMap((from) => {
    const { exits } = authored[from]!;
    const isPlain = Object.values(exits).includes(null);
    const onRequest = isPlain ? IDS.filter((to) => to !== from && authored[to]!.entry.includes('agent-request')) : [];
    const implied = onRequest.filter((to) => !admits(to, from)).map((to) => `${from} hop-${to} ${to}`);
    const named = Object.entries(exits).flatMap(([exit, opens]) =>
      IDS.filter((to) => {
        const lawful = admits(to, from, 'user-request', 'agent-request');
        if (opens !== null) return opens.includes(to) && lawful;
        if (exit.startsWith('hop-')) return exit === `hop-${to}` && lawful;
        return to !== from && admits(to, from, ...(exit === 'user-request' ? [exit] : []));
      }).map((to) => `${from} ${exit} ${to}`),
    );
    return [...new Set([...named, ...implied])];
  });
  return all.sort();
}

describe('deriveEdges', () => {
  it('makes an edge exactly if an exit names the target and the target admits the source', () => {
    fc.assert(
      fc.property(drafts, (authored) => {
        const { edges } = load(authored);
        expect(edges.map(({ from, exit, to }) => `${from} ${exit} ${to}`)).toEqual(expected(authored));
        expect(edges.every(({ sources }) => sources.length > 0)).toBe(true);
      }),
    );
  });
});

it('the hash of a spec set is the same for the same texts, and changes when an exit opens more', () => {
  const authored: Drafts = Object.fromEntries(IDS.map((id) => [id, { entry: ['from-any'], exits: { done: ['a'] } }]));
  const wider = { ...authored, b: { entry: ['from-any'], exits: { done: ['a', 'c'] } } };
  expect(load(authored).hash).toBe(load({ ...authored }).hash);
  expect(load(wider).hash).not.toBe(load(authored).hash);
});

it('a gate applies to every exit to its destination, whichever file names the exit', () => {
  const peripheral = (id: string, rest: object) => ({
    file: `peripherals/${id}.yaml`,
    text: JSON.stringify({ id, purpose: 'Test.', tools: [], scope: 'none', ...rest }),
  });
  const parsed = parseSpecSet([
    SCOPES,
    peripheral('a', { entry: 'default', exit: { on: ['b', 'c'] }, gates: { c: [{ approval: 'operator' }] } }),
    peripheral('b', { entry: 'from-any', exit: { on: 'c' } }),
    peripheral('c', { entry: 'from-any', exit: {}, gates: { c: [{ when: 'session.steps > 1' }] } }),
  ]);
  const approval = { kind: 'approval', by: 'operator' };
  const when = { kind: 'when', cel: 'session.steps > 1' };
  expect(parsed.ok && parsed.specs.edges.map(({ from, to, gates }) => [from, to, gates])).toEqual([
    ['a', 'b', []],
    ['a', 'c', [approval, when]],
    ['b', 'c', [approval, when]],
  ]);
});

it('the gates of a spec set are collected once for all starts of sub-agents', () => {
  let listed = 0;
  const none = { id: 'a', gates: {}, entry: { sources: [{ kind: 'from-any' }], conditions: [] } } as unknown;
  const peripherals = new Proxy({ a: none } as SpecSet['peripherals'], {
    ownKeys: (of) => {
      listed += 1;
      return Reflect.ownKeys(of);
    },
  });
  for (let start = 0; start < 3; start++) expect(findDelegationEdge(peripherals, 'a', 'a')?.to).toBe('a');
  expect(listed).toBe(1);
});
