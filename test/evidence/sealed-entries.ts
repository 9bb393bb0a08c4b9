import type { Body } from '../../src/evidence/bodies.ts';
import { buildChainedEntries } from '../../src/evidence/chain.ts';
import { EMPTY_CHAIN, type Entry, type EntryDraft } from '../../src/evidence/entry.ts';
import type { Json } from '../../src/spec/types.ts';
import { draft } from './drafts.ts';

/**
 * Seals a session's entries `e0`, `e1`, …, a second apart. An argument is the body of an entry, or all of its fields.
 */
export const sealedEntries = (...bodies: (Body | Partial<EntryDraft>)[]): Entry[] =>
  buildChainedEntries(
    EMPTY_CHAIN,
    bodies.map((one, n) =>
      draft({
        id: `e${n}`,
        at: new Date(Date.parse('2026-01-31T09:00:00.000Z') + n * 1000).toISOString(),
        ...('event' in one ? { body: one as unknown as Json } : one),
      }),
    ),
  ).map(({ entry }) => entry);

type Fields = { readonly [field: string]: Json };

export const start = (peripheral: string): Body => ({
  event: 'start',
  peripheral,
  by: 'agent',
  context: {},
  deadline: null,
  facts: null,
});
export const stop = (peripheral: string, fruit: Fields = {}): Body => ({
  event: 'stop',
  peripheral,
  reason: 'done',
  by: 'agent',
  fruit,
  exit: null,
});
export const hop = (from: string, to: string, reframe?: { expected: string; actual: string }): Body => ({
  event: 'hop',
  from,
  exit: `hop-${to}`,
  to,
  reason: 'on',
  by: 'agent',
  approval: null,
  facts: {},
  ...(reframe ? { reframe: { ...reframe, shownBy: null } } : {}),
});
export const denial = (code: string, remedy: string, about: Fields = {}): Body => ({
  event: 'denial',
  request: {},
  code,
  message: 'no',
  remedy,
  about,
});
type Ops = readonly (readonly [op: string, path: string])[] | 'unobserved';
const effectsOf = (ops: Ops) => (ops === 'unobserved' ? ops : ops.map(([op, path]) => ({ op, path })));

/** A tool that observed and succeeded. */
export const step = (tool: string, result: Json, ops: Ops = []): Body => ({
  event: 'step',
  tool,
  args: {},
  outcome: { status: 'ok', result },
  effects: effectsOf(ops),
});
/** A tool that acted and succeeded. */
export const outcome = (tool: string, result: Json, ops: Ops = []): Body => ({
  event: 'outcome',
  tool,
  outcome: { status: 'ok', result },
  effects: effectsOf(ops),
});
export const failure = (event: 'step' | 'outcome', tool: string, code: string, ops: Ops = []): Body => {
  const outcome = { status: 'failed' as const, code, message: 'it failed' };
  return event === 'step'
    ? { event, tool, args: {}, outcome, effects: effectsOf(ops) }
    : { event, tool, outcome, effects: effectsOf(ops) };
};
