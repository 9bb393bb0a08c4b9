import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inferSpecs } from '../../src/audit/infer/infer-specs.ts';
import { coverPaths, findCoveringGlobs } from '../../src/audit/infer/path-cover.ts';
import { printSpecs } from '../../src/audit/infer/print-specs.ts';
import { addRecordedUsage, RecordedUsages } from '../../src/audit/infer/recorded-usage.ts';
import { proveProperties } from '../../src/audit/properties/prove-properties.ts';
import { isWithinPaths } from '../../src/audit/rules/audited-path.ts';
import { replayDecisions } from '../../src/session/replay-decisions.ts';
import type { Session } from '../../src/session/session.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import type { Json, SpecSet } from '../../src/spec/types.ts';
import { depth } from '../depth.ts';
import { grid, REVIEW, RUNBOOK, specsOf } from '../testing/spec-sets.ts';
import { answering, CONFIG, fivePeripherals, folder, SPECS, world } from './audited-session.ts';

const PINNED = { specs: SPECS, config: CONFIG };

/** Writes a spec set to its files and reads it back. */
async function reload(specs: SpecSet): Promise<SpecSet> {
  const root = folder();
  for (const [name, text] of printSpecs(specs)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return loadSpecs(root);
}

async function inferred() {
  const at = await world();
  await fivePeripherals(at);
  const usage = new RecordedUsages();
  await addRecordedUsage(usage, PINNED, at.store.entries(at.session.id));
  return { at, ...inferSpecs(SPECS, usage) };
}

/** Makes one of the possible moves: a call, a hop or a start, a change of mode, a stop. */
async function wander(session: Session, [kind, which]: readonly [number, number]): Promise<void> {
  const { tools, hops, modes } = session.available();
  const one = <T>(list: readonly T[]): T | undefined => list[which % Math.max(1, list.length)];
  if (kind < 8) return void (await session.stop('enough'));
  const [tool, hop, mode] = [one(tools), one(hops), one(modes)];
  if (kind < 40 && tool) return void (await session.step({ tool, args: ARGUMENTS[tool] ?? {} }));
  if (kind < 60 && mode)
    return void (await session.setMode({ to: mode.to, exitCriteria: 'x', summary: 'x', reason: 'x' }));
  if (!hop) return;
  const { to, exit } = hop;
  const stated = { 'commit-message': 'Mend it', severity: 3, cause: 'load', pick: 'it' };
  const asks = Object.keys(session.specs.peripherals[session.state.peripheral ?? '']?.fruit ?? {});
  const fruit = Object.fromEntries(Object.entries(stated).filter(([field]) => asks.includes(field)));
  await (exit === null
    ? session.start(to, kind % 5 === 0 ? { by: 'operator' } : {})
    : session.hop({ to, exit, reason: 'on', fruit, ...(kind % 5 === 0 ? { by: 'operator' } : {}) }));
}

const ARGUMENTS: { readonly [tool: string]: { readonly [name: string]: Json } } = {
  read: { path: 'src/a.ts' },
  grep: { pattern: 'x', path: 'src' },
  glob: { pattern: '*' },
  edit: { path: 'src/a.ts', old: 'a', new: 'b' },
  write: { path: 'docs/b.md', content: 'x' },
  bash: { command: 'make' },
  'bash-git': { sub: 'push' },
  'web-fetch': { url: 'https://docs.example.com/' },
};

describe('the inferred tightest spec', () => {
  it('still admits every session that it was inferred from, after it was written to files and loaded', async () => {
    const { at, specs } = await inferred();
    const loaded = await reload(specs);
    const again = await replayDecisions(
      PINNED,
      { specs: loaded, config: CONFIG },
      at.session.id,
      at.store.entries(at.session.id),
    );
    expect(again.changes.filter(({ was }) => was === 'allow')).toEqual([]);
  });

  it('grants the used tools and the way back to the review', async () => {
    const { specs, seen } = await inferred();
    expect(Object.keys(specs.peripherals).sort()).toEqual(['deploy', 'edit', 'explore', 'reflect', 'test']);
    expect(specs.peripherals['edit']).toMatchObject({
      tools: ['edit', 'bash'],
      scope: { rule: { read: 'none', write: ['src/a.ts', 'src/c.ts'], command: 'contained' } },
      limits: { steps: 2 },
      agents: ['agent-1'],
    });
    expect(specs.edges.map(({ from, exit, to }) => `${from} ${exit} ${to}`)).toEqual([
      'deploy deployed reflect',
      'deploy hop-reflect reflect',
      'edit hop-reflect reflect',
      'edit hop-test test',
      'explore hop-reflect reflect',
      'explore ready-to-edit edit',
      'test hop-reflect reflect',
      'test pass deploy',
    ]);
    expect(seen['deploy']?.commands).toContain('push');
  });

  it('names permissions that were granted but never used', async () => {
    const { slack } = await inferred();
    const lines = slack.map(({ peripheral, what, granted }) => `${peripheral}: ${what}: ${granted}`);
    expect(lines).toContain('chat: peripheral: chat');
    expect(lines).toContain('edit: tool: write');
    expect(lines).toContain('edit: write: docs/');
    expect(lines).toContain('explore: url: allow-list');
    expect(lines).toContain('test: exit: fail → edit');
    expect(lines).toContain('null: mode: discuss: coordinate');
    expect(lines).not.toContain('edit: write: src/');
  });

  it('refuses calls that no session made', async () => {
    const { specs } = await inferred();
    const loaded = await reload(specs);
    const at = await world({ specs: { ...loaded, hash: loaded.hash } });
    await at.session.start('explore');
    await at.session.setMode({ to: 'diagnose' });
    expect(await at.session.step({ tool: 'glob', args: { pattern: '*' } })).toMatchObject({ ok: false });
    expect(await at.session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'r' })).toMatchObject({ ok: false });
  });

  it('passes the check and changes no answer, whatever the session did and wherever it ended', async () => {
    const sets = [SPECS, SPECS, specsOf(REVIEW), specsOf(RUNBOOK), specsOf(grid(7, 2))];
    let withoutReview = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(sets.length - 1),
        fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { minLength: 2, maxLength: 25 }),
        async (index, draws) => {
          const set = sets[index]!;
          const at = await world({ specs: set, agent: set === sets[2] ? 'reviewer' : 'agent-1' });
          for (const draw of draws) await wander(at.session, draw);
          const evidence = () => at.store.entries(at.session.id);
          const usage = new RecordedUsages();
          await addRecordedUsage(usage, { specs: set, config: CONFIG }, evidence());
          if (usage.peripherals.size === 0) return;
          if (set === SPECS && !usage.peripherals.has('reflect')) withoutReview += 1;
          const loaded = await reload(inferSpecs(set, usage).specs);
          expect(proveProperties(loaded).filter(({ holds }) => !holds)).toEqual([]);
          const again = await replayDecisions(
            { specs: set, config: CONFIG },
            { specs: loaded, config: CONFIG },
            at.session.id,
            evidence(),
          );
          expect(again.changes.filter(({ was }) => was === 'allow')).toEqual([]);
        },
      ),
      { numRuns: depth(15, 60) },
    );
    expect(withoutReview).toBeGreaterThan(0);
  });

  it('admits a call of an own tool that reads the root because it names no path', async () => {
    const specs = specsOf({
      'tools.yaml': `tools:
  count:
    purpose: Counts files.
    effect: observe
    parameters: [{ name: below, role: "path:read", description: The folder; the root if left out., optional: true }]
    limits: { seconds: 1, output-bytes: 1000 }
`,
      'peripherals/look.yaml':
        'id: look\npurpose: Looks.\ntools: [count]\nscope: full-codebase\nentry: [default]\nexit: [done]\n',
    });
    const at = await world({ specs, backend: { ...answering(), tools: ['count'] } });
    await at.session.start('look');
    expect(await at.session.step({ tool: 'count', args: {} })).toMatchObject({ ok: true });
    const usage = new RecordedUsages();
    await addRecordedUsage(usage, { specs, config: CONFIG }, at.store.entries(at.session.id));
    expect(inferSpecs(specs, usage).specs.peripherals['look']?.scope.rule.read).toBe('root');
  });

  it('is the same after it was written to files and loaded', async () => {
    const loaded = await reload(SPECS);
    const { scopes: _, hash: __, ...rest } = loaded;
    // Properties are demands on a spec set, not grants: they are not inferred.
    const { scopes: ___, hash: ____, properties: _____, ...builtIn } = SPECS;
    const unnamed = (specs: object) =>
      JSON.parse(JSON.stringify(specs, (key, value) => (key === 'name' ? undefined : value)));
    expect(unnamed(rest)).toEqual(unnamed(builtIn));
  });
});

describe('a short cover of many paths', () => {
  const paths = fc.array(
    fc
      .array(fc.constantFrom('a', 'b', 'c', 'd.ts', 'e.ts'), { minLength: 1, maxLength: 4 })
      .map((names) => names.join('/')),
    { minLength: 1, maxLength: 40 },
  );

  it('contains every path in few patterns', () => {
    fc.assert(
      fc.property(paths, (all) => {
        const places = coverPaths(all);
        expect(places.length).toBeLessThanOrEqual(8);
        for (const path of all) expect(isWithinPaths(path, places)).toBe(true);
      }),
    );
  });

  it('lists the paths themselves while they are few', () => {
    expect(coverPaths(['b/c.ts', 'a.ts', 'b/c.ts'])).toEqual(['a.ts', 'b/c.ts']);
    expect(findCoveringGlobs(Array.from({ length: 20 }, (_, i) => `src/${i}.ts`))).toEqual(['src/**/*.ts']);
  });
});
