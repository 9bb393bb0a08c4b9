import fc from 'fast-check';
import { expect, it } from 'vitest';
import { WouldRefuseReport } from '../../src/audit/infer/would-refuse.ts';
import { SessionAudit } from '../../src/audit/verify/session-audit.ts';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import { narrowConfig } from '../../src/project/narrow-config.ts';
import { replayDecisions } from '../../src/session/replay-decisions.ts';
import { hashSpecs } from '../../src/spec/hash-specs.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { parseProjectConfig } from '../../src/spec/resolve/parse-project-config.ts';
import type { Json } from '../../src/spec/types.ts';
import { workspaceBackend } from '../../src/tools/workspace/workspace-backend.ts';
import { answering } from '../audit/audited-session.ts';
import { depth } from '../depth.ts';
import { framesOf } from '../view/frames-of.ts';
import { fixtureSpecs, type Stage, stage } from './sessions.ts';

const observing = (options: Parameters<typeof stage>[0] = {}) =>
  stage({ ...options, config: { enforce: false, ...options.config } });

async function verdictOf({ store, session }: Stage) {
  await session.detach();
  const { specs, config } = session;
  return verifySession(session.id, { specs, config }, store.entries(session.id));
}

async function storedOf({ store, session }: Stage) {
  return Array.fromAsync(store.entries(session.id));
}

it('an observe-only session runs a call that enforcement would refuse, and records the refusal in the entry', async () => {
  const at = await observing({ backends: [workspaceBackend()] });
  await at.session.start('explore');
  const wrote = await at.session.step({ tool: 'write', args: { path: 'lib/new.ts', content: 'x' } });
  expect(wrote).toMatchObject({ ok: true, outcome: 'ok', wouldRefuse: { code: 'tool-not-allowed' } });
  const read = await at.session.step({ tool: 'read', args: { path: 'lib/new.ts' } });
  expect(read).toMatchObject({ ok: true, wouldRefuse: { code: 'mode-forbids' } });
  expect(at.session.state).toMatchObject({ denials: 0, steps: 2, observeOnly: true });
  const intent = (await at.session.evidence()).map(({ body }) => toBody(body)).find((body) => body?.event === 'intent');
  expect(intent).toMatchObject({ wouldRefuse: { code: 'tool-not-allowed', message: 'explore has no tool write' } });
  const frames = framesOf(at.session, at.session.id, await storedOf(at));
  expect(frames.at(-1)).toMatchObject({ row: { wouldRefuse: expect.stringContaining('read'), code: 'mode-forbids' } });
  const { ok, chain, audit } = await verdictOf(at);
  expect({ ok, chain, violations: audit.violations }).toEqual({ ok: true, chain: [], violations: [] });
  expect(audit).toMatchObject({ observed: true, counts: { wouldRefuse: 2 } });
});

it('an observe-only session runs a call for a resource that its scope does not grant', async () => {
  const specs = await loadSpecs('test/fixtures/specs/database-operator');
  const at = await observing({ specs });
  await at.session.start('look');
  const asked = await at.session.step({ tool: 'query', args: ['db:live/secrets'] });
  expect(asked).toMatchObject({ ok: true, wouldRefuse: { code: 'out-of-scope' } });
  expect((await verdictOf(at)).audit).toMatchObject({ violations: [], counts: { wouldRefuse: 1 } });
});

it('an observe-only session refuses masked files, protected names, wrong arguments and unknown tools', async () => {
  const { session } = await observing({ backends: [workspaceBackend(), answering()] });
  await session.start('explore');
  const codeOf = async (tool: string, args: Json) => {
    const result = await session.step({ tool, args });
    return result.ok ? 'ran' : result.denial.code;
  };
  expect(await codeOf('read', { path: '.env' })).toBe('out-of-scope');
  expect(await codeOf('write', { path: '.git/hooks/pre-commit', content: 'x' })).toBe('out-of-scope');
  expect(await codeOf('write', { path: 'hopgate.yaml', content: 'enforce: false' })).toBe('out-of-scope');
  expect(await codeOf('write', { path: '../outside', content: 'x' })).toBe('out-of-scope');
  expect(await codeOf('write', { path: 'src/b.ts' })).toBe('invalid-action');
  expect(await codeOf('launch', {})).toBe('unknown-tool');
  expect(await codeOf('web-fetch', { url: 'http://127.0.0.1:8080/' })).toBe('out-of-scope');
});

it('an observe-only session continues after its limits, and requests no approval', async () => {
  const at = await observing({ approver: null, specs: withLimits(), backends: [answering()] });
  await at.session.start('explore');
  at.clock.advance(10);
  for (let step = 0; step < 3; step++)
    expect(await at.session.step({ tool: 'bash-git', args: { sub: 'push' } })).toMatchObject({ ok: true });
  expect((await verdictOf(at)).audit.violations).toEqual([]);
});

const withLimits = () => {
  const { explore } = fixtureSpecs.peripherals;
  const limited = { ...explore!, limits: { steps: 1, minutes: 1 } };
  const specs = { ...fixtureSpecs, peripherals: { ...fixtureSpecs.peripherals, explore: limited } };
  return { ...specs, hash: hashSpecs(specs) };
};

it('a call that the audit would refuse is a violation unless its entry records the refusal', async () => {
  const at = await observing({ backends: [workspaceBackend()] });
  await at.session.start('explore');
  await at.session.step({ tool: 'write', args: { path: 'src/new.ts', content: 'x' } });
  const { specs, config } = at.session;
  const judged = async (change: (body: { [field: string]: Json }) => void, enforce: boolean) => {
    const entries = (await at.session.evidence()).map((entry) => structuredClone(entry));
    for (const { body } of entries) if (toBody(body)?.event === 'intent') change(body as { [field: string]: Json });
    const { enforce: _, ...enforced } = config;
    const pin = { specs, config: enforce ? enforced : config };
    const audit = new SessionAudit(pin);
    for (const entry of entries) audit.add(entry);
    return audit.result().violations.map(({ rule }) => rule);
  };
  expect(await judged(() => {}, false)).toEqual([]);
  expect(await judged((body) => delete body['wouldRefuse'], false)).toContain('facts');
  expect(await judged((body) => (body['wouldRefuse'] = { code: 'out-of-scope' }), false)).toContain('facts');
  expect(await judged(() => {}, true)).toEqual(expect.arrayContaining(['tool', 'pin']));
});

it('the gate and the audit agree on every call of an observe-only session', async () => {
  const calls: readonly (readonly [string, Json])[] = [
    ['read', { path: 'src/a.ts' }],
    ['read', { path: '.env' }],
    ['write', { path: 'lib/b.ts', content: 'x' }],
    ['write', { path: '.git/config', content: 'x' }],
    ['edit', { path: 'src/a.ts', old: 'a', new: 'b' }],
    ['grep', { pattern: 'a' }],
    ['bash', { command: 'make' }],
    ['bash', { command: '' }],
    ['bash-readonly', { command: 'ls' }],
    ['bash-test', {}],
    ['bash-test', { command: 'rm -rf /' }],
    ['bash-git', { sub: 'commit', args: ['-m', 'x'] }],
    ['bash-git', { sub: 'push', args: ['elsewhere', 'main'] }],
    ['bash-deploy', { name: 'staging' }],
    ['bash-deploy', { name: 'production' }],
    ['web-fetch', { url: 'https://docs.example.com/' }],
    ['web-fetch', { url: 'https://other.example.org/a' }],
    ['web-fetch', { url: 'https://other.example.org:8443/a' }],
    ['web-fetch', { url: 'http://[::1]/' }],
  ];
  const start = fc.constantFrom('explore', 'edit', 'test', 'deploy', 'reflect');
  await fc.assert(
    fc.asyncProperty(start, fc.boolean(), fc.array(fc.constantFrom(...calls)), async (peripheral, diagnose, made) => {
      const at = await observing({ backends: [answering()] });
      if (diagnose) await at.session.setMode({ to: 'diagnose' });
      await at.session.start(peripheral, { by: 'operator' });
      for (const [tool, args] of made) await at.session.step({ tool, args });
      expect((await verdictOf(at)).audit.violations).toEqual([]);
    }),
    { numRuns: depth(5, 60) },
  );
});

it('the report on observe-only sessions counts the refusals, and proposes settings', async () => {
  const at = await observing({ backends: [workspaceBackend(), answering()] });
  await at.session.start('explore');
  await at.session.step({ tool: 'write', args: { path: 'lib/new.ts', content: 'x' } });
  await at.session.step({ tool: 'write', args: { path: 'src/new.ts', content: 'x' } });
  await at.session.step({ tool: 'web-fetch', args: { url: 'https://other.example.org/a' } });
  const report = new WouldRefuseReport();
  await report.add(at.session, at.session.id, at.store.entries(at.session.id));
  expect(report.groups.map(({ tool, code, calls }) => [tool, code, calls])).toEqual([
    ['write', 'tool-not-allowed', 2],
    ['web-fetch', 'mode-forbids', 1],
  ]);
  const { specs, config } = at.session;
  const settings = report.settings(specs, config);
  expect(settings).toEqual({
    scopes: { edit: [...specs.peripherals['edit']!.scope.rule.write, 'lib/new.ts'] },
    hosts: ['other.example.org'],
  });
  const enforced = { specs, config: { ...config, enforce: undefined } } as unknown as typeof at.session;
  const again = await replayDecisions(at.session, enforced, at.session.id, at.store.entries(at.session.id));
  expect(again).toMatchObject({ changes: [], drift: [] });
});

it('only a file that the operator trusts can switch enforcement off', () => {
  const parsed = parseProjectConfig('enforce: false');
  const { config, ignored } = narrowConfig(parsed.ok ? parsed.config : ({} as never), fixtureSpecs);
  expect(parsed).toMatchObject({ ok: true, config: { enforce: false } });
  expect(config.enforce).toBeUndefined();
  expect(ignored).toEqual(['enforce']);
});

it('an observe-only session lets a client run a tool of its own that no tool of hopgate covers, and records the call', async () => {
  const at = await observing();
  await at.session.start('explore');
  expect(await at.session.admitUncovered({ tool: 'mcp__other__search', args: { query: 'x' } })).toBe(true);
  expect(at.session.state.denials).toBe(0);
  expect((await at.session.evidence()).at(-1)?.body).toMatchObject({ code: 'unknown-tool', enforced: false });
  expect((await verdictOf(at)).audit).toMatchObject({ ok: true, counts: { wouldRefuse: 1, denials: 0 } });
  const enforcing = await stage();
  expect(await enforcing.session.admitUncovered({ tool: 'mcp__other__search' })).toBe(false);
});
