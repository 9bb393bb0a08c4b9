import { expect, test } from 'vitest';
import { agentSession } from '../../src/adapters/core/local-agent-session.ts';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import type { Approver } from '../../src/ports/approver.ts';
import { replayDecisions } from '../../src/session/replay-decisions.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import type { InstallCommand, Json, ProjectConfig } from '../../src/spec/types.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { CONFIG, world } from '../audit/audited-session.ts';
import { inTurn, no } from './sessions.ts';

const SPECS = await loadSpecs('default');
const NPM_CI: InstallCommand = { run: ['npm', 'ci'], hosts: ['registry.example.com'], scripts: false, approval: true };

/** A session in edit, in execute, with an install command; the lock file can change under it. */
async function inEdit(approver: Approver, install: readonly InstallCommand[] = [NPM_CI]) {
  const config: ProjectConfig = { ...CONFIG, install };
  const locks: { [file: string]: Json } = { 'package-lock.json': 'a'.repeat(64) };
  const connected = { path: 'registry.example.com:443', op: 'connect' } as const;
  const backend = {
    ...scriptedBackend({
      install: () => ({ outcome: { status: 'ok', result: { exit: 0, kept: ['node_modules'] } }, effects: [connected] }),
      'bash-test': () => ({ exit: 0, verdict: 'pass', command: ['npm', 'test'], report: { total: 1, failures: [] } }),
    }),
    boundFiles: async () => ({ ...locks }),
  };
  const asked: { readonly action: Json; readonly view: Json }[] = [];
  const asking: Approver = {
    via: 'approver',
    approve: async (request) => {
      if (request.action.kind === 'mode') return { by: 'op' };
      asked.push(structuredClone({ action: request.action as unknown as Json, view: request.view as Json }));
      return approver.approve(request);
    },
  };
  const { session, store } = await world({ specs: SPECS, config, backend, approver: asking });
  await session.setMode({ to: 'diagnose' });
  await session.setMode({ to: 'execute' });
  await session.start('edit', { by: 'operator' });
  const verify = async () => (await verifyConstraints({ specs: SPECS, config }, store.entries(session.id))).violations;
  return { session, store, config, locks, backend, asked, verify };
}

const given: Approver = inTurn({ by: 'op' });

test('an install asks a person, who sees the command, its hosts and the files that determine it', async () => {
  const { session, asked, backend, verify, store, config } = await inEdit(given);
  const result = await session.step({ tool: 'install' });
  expect(result).toMatchObject({ ok: true, outcome: 'ok' });
  expect(asked).toEqual([
    {
      action: { kind: 'step', from: 'edit', to: 'install' },
      view: {
        command: 'the configured one',
        install: [{ run: 'npm ci', hosts: 'from registry.example.com', scripts: 'with scripts of packages off' }],
        locks: { 'package-lock.json': 'a'.repeat(64) },
      },
    },
  ]);
  expect(backend.calls).toHaveLength(1);
  const events = (await session.evidence()).map(({ body }) => toBody(body)?.event);
  expect(events.slice(-3)).toEqual(['approval', 'intent', 'outcome']);
  expect(await verify()).toEqual([]);
  const again = await replayDecisions(
    { specs: SPECS, config },
    { specs: SPECS, config },
    session.id,
    store.entries(session.id),
  );
  expect(again.drift).toEqual([]);
  // Each approval is for one run.
  await session.step({ tool: 'install' });
  expect(asked).toHaveLength(2);
});

test('an install runs nothing without a yes', async () => {
  const { session, backend } = await inEdit(no);
  expect(await session.step({ tool: 'install' })).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
  expect(backend.calls).toEqual([]);
});

test('a client asks the person before the call, and the answer holds for the same lock file only', async () => {
  const { session, asked, locks, verify } = await inEdit(no);
  const agent = agentSession(session);
  const call = { name: 'install', input: {} };
  const wanted = await agent.wants(call);
  expect(wanted).toMatchObject({ action: { kind: 'step', to: 'install' }, view: { locks } });
  const approved = { hash: wanted?.hash ?? '', by: 'ann' };
  expect(await agent.call({ ...call, approved })).toMatchObject({ status: 'ok' });
  locks['package-lock.json'] = 'b'.repeat(64);
  expect(await agent.call({ ...call, approved })).toMatchObject({
    status: 'refused',
    denial: { code: 'approval-required' },
  });
  expect(await agent.wants({ name: 'read', input: { path: 'a' } })).toBeNull();
  expect(asked).toEqual([]);
  expect(await verify()).toEqual([]);
});

test('a lock file that changes while the person decides makes the yes invalid', async () => {
  const changing: Approver = {
    via: 'approver',
    approve: async () => {
      world.locks['package-lock.json'] = 'b'.repeat(64);
      return { by: 'op' };
    },
  };
  const world = await inEdit(changing);
  expect(await world.session.step({ tool: 'install' })).toMatchObject({
    ok: false,
    denial: { code: 'approval-invalid' },
  });
  expect(world.backend.calls).toEqual([]);
});

test('an install with approval: false asks nobody', async () => {
  const { session, asked, verify } = await inEdit(no, [{ ...NPM_CI, approval: false }]);
  expect(await session.step({ tool: 'install' })).toMatchObject({ ok: true });
  expect(asked).toEqual([]);
  expect(await verify()).toEqual([]);
});

test('the audit notices an install without its approval, with another approval, or from other hosts', async () => {
  const { session, store, config } = await inEdit(given);
  await session.step({ tool: 'install' });
  const entries = await Array.fromAsync(store.entries(session.id));
  const forged = (change: (body: { [key: string]: Json }) => { [key: string]: Json } | null) =>
    entries.flatMap((stored) => {
      const body = change(structuredClone(stored.entry.body) as { [key: string]: Json });
      return body === null ? [] : [{ ...stored, entry: { ...stored.entry, body } }];
    });
  const judged = async (change: Parameters<typeof forged>[0], pinned = config) =>
    (await verifyConstraints({ specs: SPECS, config: pinned }, forged(change))).violations.map(
      ({ message }) => message,
    );
  expect(await judged((body) => body)).toEqual([]);
  expect(
    await judged((body) => {
      const { approval: _, ...rest } = body;
      return body['event'] === 'approval' && JSON.stringify(body).includes('npm ci')
        ? null
        : body['event'] === 'intent'
          ? rest
          : body;
    }),
  ).toEqual(['the call was not approved']);
  const wider = { ...config, install: [{ ...NPM_CI, hosts: ['registry.example.com', 'evil.example'] }] };
  expect((await judged((body) => body, wider)).join()).toContain('evil.example');
  const elsewhere = await judged((body) =>
    body['event'] === 'outcome' ? { ...body, effects: [{ path: 'evil.example:443', op: 'connect' }] } : body,
  );
  expect(elsewhere).toEqual(['connect of evil.example:443 was observed: no command lists the host']);
});
