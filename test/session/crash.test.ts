import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { toBody } from '../../src/evidence/bodies.ts';
import { verifyChain } from '../../src/evidence/chain.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import { resumeSession } from '../../src/session/create-session.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { depth, isDeep } from '../depth.ts';
import { must, temporaryTree } from './sessions.ts';

const WRITER = resolve('test/session/crash-writer.ts');
const CLI = resolve('src/cli/main.ts');
const CRASHES = depth(2, 10);
const RUNS = depth(1, 3);

/** Starts a program and kills it once `isEnough` says so of the lines that it printed; returns those. */
function killWhen(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  isEnough: (lines: readonly string[]) => boolean,
  delay = 0,
) {
  return new Promise<readonly string[]>((done, fail) => {
    const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const lines: string[] = [];
    let errors = '';
    let isDoomed = false;
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      if (isDoomed || !isEnough(lines)) return;
      isDoomed = true;
      setTimeout(() => child.kill('SIGKILL'), delay);
    });
    child.on('error', fail);
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL' || code === 0) done(lines);
      else fail(new Error(`the program ended by itself with ${code}: ${errors}`));
    });
  });
}

/** An hour on, so that the dead writer's lease is over. */
const later = { now: () => Date.now() + 3_600_000 };

async function resume(store: EvidenceStore, id: string) {
  let next = 0;
  const backend = scriptedBackend({ edit: { ok: true }, read: { path: 'src/a.ts', text: 'a' } });
  const ids = { next: (kind: string) => `${kind}-after-${id}-${next++}` };
  const session = await resumeSession({ store, clock: later, ids, backends: [backend], approver: null }, id);
  return { session, backend };
}

async function storedEntries(store: EvidenceStore, id: string) {
  const entries = [];
  for await (const { entry } of store.entries(id)) entries.push({ entry, body: toBody(entry.body) });
  return entries;
}

/** Kills a writer after a number of printed lines. */
const atRandom = (file: string) => {
  const calls = 1 + Math.floor(Math.random() * 40);
  return killWhen([WRITER, file], process.env, ({ length }) => length > calls, Math.random() * 8);
};

/** Kills a writer that waits inside of its tool, or between two calls. */
const at = (place: 'inside' | 'between') => (file: string) => {
  const isThere = (lines: readonly string[]) => {
    const ran = lines.indexOf('ran 10');
    return ran >= 0 && (place === 'inside' || lines.length > ran + 1);
  };
  return killWhen([WRITER, file, place], process.env, isThere);
};

/**
 * Kills one writer, and checks its evidence against all that it acknowledged. Returns the number of interrupted steps.
 */
async function crash(kill: (file: string) => Promise<readonly string[]> = atRandom): Promise<number> {
  const file = join(temporaryTree(), 'evidence.db');
  const lines = await kill(file);
  const id = lines[0]?.split(' ')[1] ?? '';
  const acknowledged = lines.flatMap((line) => (line.startsWith('seq ') ? [Number(line.slice(4))] : []));
  const ran = lines.filter((line) => line.startsWith('ran ')).length;

  const store = sqliteStore(file, { clock: later });
  const verdict = await verifyChain(store.entries(id));
  expect(verdict).toMatchObject({ ok: true });
  const before = await storedEntries(store, id);
  expect(before.map(({ entry }) => entry.seq)).toEqual(before.map((_, seq) => seq));
  expect(before.length - 1).toBeGreaterThanOrEqual(acknowledged.at(-1) ?? 0);
  const intents = before.filter(({ body }) => body?.event === 'intent');
  // Never act before the intent is durable.
  expect(intents.length).toBeGreaterThanOrEqual(ran);

  const { session, backend } = await resume(store, id);
  expect(session.state.steps).toBe(
    before.filter(({ body }) => body?.event === 'step' || body?.event === 'outcome').length,
  );
  await must(session.settle());
  await must(session.settle());
  const after = await storedEntries(store, id);
  const broken = after.filter(({ body }) => body?.event === 'interrupted');
  const answered = before.filter(({ body }) => body?.event === 'outcome').map(({ entry }) => entry.inReplyTo);
  const pending = intents.filter(({ entry }) => !answered.includes(entry.id)).map(({ entry }) => entry.id);
  expect(broken.map(({ entry }) => entry.inReplyTo)).toEqual(pending);
  expect(pending.length).toBeLessThanOrEqual(1);
  // The step is not repeated, and all moves are possible as before.
  expect(backend.calls).toEqual([]);
  if (session.state.peripheral === null) await must(session.start(session.available().hops[0]?.to ?? ''));
  await must(session.stop('after the crash'));
  await must(session.close('after the crash'));
  expect(await verifyChain(store.entries(id))).toMatchObject({ ok: true });
  await store.close();
  return pending.length;
}

describe('a killed writer', () => {
  it(`loses no acknowledged entry, and its session can be resumed (${CRASHES} times)`, async () => {
    for (let left = CRASHES - 2; left > 0; left -= 4)
      await Promise.all(Array.from({ length: Math.min(4, left) }, () => crash()));
    // Each run kills one writer in the middle of a step and one between two steps.
    expect(await Promise.all([crash(at('inside')), crash(at('between'))])).toEqual([1, 0]);
  });
});

describe.runIf(isDeep)('a killed hopgate run', () => {
  it(`leaves a session that hopgate resume continues (${RUNS} times)`, async () => {
    for (let run = 0; run < RUNS; run++) {
      const state = temporaryTree();
      const env = { ...process.env, HOME: state, XDG_STATE_HOME: state, TMPDIR: temporaryTree() };
      const scenario = [CLI, 'run', 'specs/scenarios/fix-a-bug.yaml', '--json'];
      const steps = 1 + Math.floor(((run + Math.random()) * 34) / RUNS);
      const lines = await killWhen(scenario, env, ({ length }) => length > steps, Math.random() * 150);
      const opened = JSON.parse(lines[0] ?? '{}') as { session: string; root: string };
      const database = join(state, 'hopgate');
      const [folder] = readdirSync(database);
      const store = sqliteStore(join(database, folder ?? '', 'evidence.db'), { clock: later });
      expect(await verifyChain(store.entries(opened.session))).toMatchObject({ ok: true });
      const before = await storedEntries(store, opened.session);
      const { session } = await resume(store, opened.session);
      const settled = await must(session.settle());
      const isPending = before.at(-1)?.body?.event === 'intent';
      expect(settled.evidence.filter(({ tags }) => tags.includes('interrupted')).length).toBe(isPending ? 1 : 0);
      if (!session.state.closed) {
        if (session.state.peripheral !== null) await must(session.stop('after the crash'));
        await must(session.close('after the crash'));
      }
      expect(await verifyChain(store.entries(opened.session))).toMatchObject({ ok: true });
      await store.close();
    }
  });
});
