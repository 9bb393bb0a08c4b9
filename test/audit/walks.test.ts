import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import { replayDecisions } from '../../src/session/replay-decisions.ts';
import type { Session } from '../../src/session/session.ts';
import type { Mode, Principal } from '../../src/spec/types.ts';
import { depth } from '../depth.ts';
import { answering, CONFIG, SPECS, type World, world } from './audited-session.ts';

/** One request of a walk; most kinds are refused at some point, and the evidence contains the refusals. */
type Try =
  | { readonly do: 'start'; readonly peripheral: string; readonly by: Principal }
  | { readonly do: 'step'; readonly tool: string; readonly args: unknown }
  | {
      readonly do: 'hop';
      readonly to: string;
      readonly exit: string | null;
      readonly by: Principal;
      readonly message: boolean;
    }
  | {
      readonly do: 'mode';
      readonly to: Mode;
      readonly reset: boolean;
      readonly by: Principal;
      readonly summary: boolean;
    }
  | { readonly do: 'stop' }
  | { readonly do: 'wait'; readonly minutes: number };

const peripherals = Object.keys(SPECS.peripherals);
const exits = [...new Set(Object.values(SPECS.peripherals).flatMap((one) => one.exits.map(({ name }) => name)))];
const by = fc.constantFrom<Principal>('agent', 'agent', 'operator');
const path = fc.constantFrom(
  'src/a.ts',
  './src/../docs/b.md',
  '/repo/src/c.ts',
  '../x',
  '.env',
  'package.json',
  '.git/config',
  'src',
);

const calls: fc.Arbitrary<{ tool: string; args: unknown }> = fc.oneof(
  fc.record({
    tool: fc.constantFrom('read', 'read', 'grep', 'glob'),
    args: path.map((at) => ({ path: at, pattern: 'x' })),
  }),
  fc.record({ tool: fc.constant('read'), args: path.map((at) => [at]) }),
  fc.record({ tool: fc.constant('edit'), args: path.map((at) => ({ path: at, old: 'a', new: 'b' })) }),
  fc.record({ tool: fc.constant('write'), args: path.map((at) => ({ path: at, content: 'x' })) }),
  fc.record({ tool: fc.constantFrom('bash', 'bash-readonly'), args: fc.constant({ command: 'make' }) }),
  fc.record({
    tool: fc.constant('bash-test'),
    args: fc.constantFrom({}, { command: 'npm test' }, { command: ['npm', 'test', 'a'] }),
  }),
  fc.record({
    tool: fc.constant('bash-git'),
    args: fc.constantFrom({ sub: 'commit', args: ['-m', 'x'] }, { sub: 'push' }, { sub: 'status' }),
  }),
  fc.record({
    tool: fc.constantFrom('musn-log', 'nothing', 'web-fetch'),
    args: fc.constant({ url: 'https://docs.example.com' }),
  }),
  fc.record({ tool: fc.constant('musn-log'), args: fc.constant({}) }),
);

const tries: fc.Arbitrary<Try> = fc.oneof(
  { weight: 8, arbitrary: calls.map((call): Try => ({ do: 'step', ...call })) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('hop' as const),
      to: fc.constantFrom(...peripherals),
      exit: fc.option(fc.constantFrom(...exits)),
      by,
      message: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('mode' as const),
      to: fc.constantFrom<Mode>('discuss', 'diagnose', 'execute', 'execute'),
      reset: fc.boolean(),
      by,
      summary: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('start' as const), peripheral: fc.constantFrom(...peripherals), by }),
  },
  { weight: 1, arbitrary: fc.constant<Try>({ do: 'stop' }) },
  { weight: 1, arbitrary: fc.constantFrom(1, 31, 61).map((minutes): Try => ({ do: 'wait', minutes })) },
);

/** Walks that reach a peripheral by allowed moves, then try anything. */
const walks = fc.record({
  verdict: fc.constantFrom('pass' as const, 'fail' as const),
  head: fc.constantFrom('nowhere', 'explore', 'edit', 'test', 'deploy'),
  tries: fc.array(tries, { maxLength: 25 }),
});

async function goTo(session: Session, place: string): Promise<void> {
  const way: (() => Promise<unknown>)[] = [
    () => session.start('explore'),
    () => session.setMode({ to: 'diagnose' }),
    () => session.step({ tool: 'read', args: ['src/a.ts'] }),
    () => session.hop({ to: 'edit', exit: 'found-target', reason: 'r' }),
    () => session.setMode({ to: 'execute' }),
    () => session.step({ tool: 'write', args: ['src/a.ts', 'x'] }),
    () => session.hop({ to: 'test', exit: 'hop-test', reason: 'r', fruit: { 'commit-message': 'm' } }),
    () => session.step({ tool: 'bash-test' }),
    () => session.hop({ to: 'deploy', exit: 'pass', reason: 'r' }),
  ];
  const length = { nowhere: 0, explore: 3, edit: 6, test: 8, deploy: 9 }[place] ?? 0;
  for (const leg of way.slice(0, length)) await leg();
}

async function attempt({ session, pass }: World, one: Try): Promise<void> {
  switch (one.do) {
    case 'start':
      await session.start(one.peripheral, { by: one.by });
      return;
    case 'step':
      await session.step({ tool: one.tool, args: one.args });
      return;
    case 'hop':
      await session.hop({
        to: one.to,
        reason: 'r',
        by: one.by,
        ...(one.exit === null ? {} : { exit: one.exit }),
        ...(one.message ? { fruit: { 'commit-message': 'm' } } : {}),
      });
      return;
    case 'mode':
      await session.setMode({ to: one.to, by: one.by, reset: one.reset, ...(one.summary ? { summary: 's' } : {}) });
      return;
    case 'stop':
      await session.stop('r');
      return;
    case 'wait':
      pass(one.minutes * 60_000);
  }
}

describe('a random walk of the engine', () => {
  it('verifies clean, and replays to the same decisions', async () => {
    await fc.assert(
      fc.asyncProperty(walks, async ({ verdict, head, tries }) => {
        const at = await world({ backend: answering({ verdict }) });
        await goTo(at.session, head);
        for (const one of tries) await attempt(at, one);
        const pinned = { specs: SPECS, config: CONFIG };
        const checked = await verifySession(at.session.id, pinned, at.store.entries(at.session.id));
        expect(checked.audit.violations).toEqual([]);
        expect(checked.audit.gaps.filter(({ kind }) => kind !== 'open-visit')).toEqual([]);
        expect(checked.ok).toBe(true);
        const again = await replayDecisions(pinned, pinned, at.session.id, at.store.entries(at.session.id));
        expect(again).toMatchObject({ changes: [], drift: [] });
      }),
      { numRuns: depth(25, 150) },
    );
  });
});
