import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { escapeInvisible, excerpt } from '../../src/base/text.ts';
import { runCli } from '../../src/cli/program.ts';
import { EMPTY_CHAIN, type EntryDraft } from '../../src/evidence/entry.ts';
import { loadSpecs, openSession } from '../../src/index.ts';
import { ensureStateDir, evidenceFile } from '../../src/project/state-dir.ts';
import type { Json } from '../../src/spec/types.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { isDeep } from '../depth.ts';
import { type Machine, machine, sink } from './run.ts';

const draft = (sessionId: string, n: number, body: Json, more: Partial<EntryDraft> = {}): EntryDraft => ({
  id: `${sessionId}-${n}`,
  at: `2026-01-02T03:04:0${n}.000Z`,
  type: 'coordination',
  claim: n === 0 ? 'goal' : 'step',
  subject: { type: 'session', id: sessionId },
  author: 'agent-1',
  sessionId,
  peripheral: null,
  mode: 'discuss',
  body,
  tags: [],
  ...(n === 0 ? {} : { inReplyTo: `${sessionId}-${n - 1}` }),
  ...more,
});

const DENIED = {
  event: 'denial',
  request: {},
  code: 'tool-not-allowed',
  message: 'no \u202ebash\u001b[2K here',
  remedy: 'hop',
  about: {},
};

async function withSessions({ root, env }: Machine, ...ids: string[]): Promise<void> {
  ensureStateDir(root, env);
  const store = sqliteStore(evidenceFile(root, env));
  for (const id of ids) {
    const lease = await store.acquire(id, 'w', 60_000);
    await store.append(lease, EMPTY_CHAIN, [
      draft(id, 0, {
        event: 'session-open',
        agent: 'agent-1',
        root,
        pin: 'p',
        specHash: 'h',
        unsafeNoSandbox: false,
        version: '0',
      }),
      draft(
        id,
        1,
        { event: 'start', peripheral: 'explore', by: 'agent', context: {}, deadline: null },
        { peripheral: 'explore' },
      ),
      draft(id, 2, DENIED, { peripheral: 'explore', claim: 'observation' }),
      draft(id, 3, { event: 'of-a-later-version', x: 1 }),
    ]);
    await store.release(lease);
  }
  await store.close();
}

describe('hopgate sessions', () => {
  it('lists none before the first session, and creates no store', async () => {
    const { run } = machine();
    expect(await run('sessions')).toMatchObject({ code: 0, out: 'No sessions yet.\n', err: '' });
    expect(await run('sessions', '--json')).toMatchObject({ code: 0, out: '', err: '' });
    expect((await run('log', 'x')).code).toBe(1);
  });

  it('says how to read those of a repository that was moved', async () => {
    const here = machine({ 'hopgate.yaml': 'test: []\n' });
    await withSessions(here, 's-one');
    expect((await here.run('trust', '--yes')).code).toBe(0);
    const moved = `${here.root}-moved`;
    onTestFinished(() => rmSync(moved, { recursive: true }));
    renameSync(here.root, moved);
    const remedy = `mkdir -p ${here.root} && hopgate sessions --root ${here.root}`;
    expect((await here.run('sessions', '--root', moved)).err).toContain(remedy);
    expect((await here.run('verify', 's-one', '--root', moved)).err).toContain(remedy);
    mkdirSync(here.root);
    expect((await here.run('sessions')).out).toContain('s-one');
  });

  it('lists the sessions for people and as JSON lines', async () => {
    const here = machine();
    await withSessions(here, 's-one', 's-two');
    const { out } = await here.run('sessions');
    expect(out.split('\n')[0]).toMatch(/^session +agent +opened +last entry +entries +state$/);
    expect(out).toMatch(/^s-one +agent-1 +2026-01-02T03:04:00.000Z +2026-01-02T03:04:03.000Z +4 +open$/m);
    const lines = (await here.run('sessions', '--json')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { sessionId: string; entries: number });
    expect(lines.map(({ sessionId, entries }) => [sessionId, entries]).sort()).toEqual([
      ['s-one', 4],
      ['s-two', 4],
    ]);
  });
});

describe('hopgate log', () => {
  it('prints one line for each entry', async () => {
    const here = machine();
    await withSessions(here, 's-one');
    const { code, out } = await here.run('log', 's-one');
    expect(code).toBe(0);
    const lines = out.trim().split('\n');
    expect(lines[0]).toMatch(/^seq +time +peripheral +mode +claim +event +summary$/);
    expect(lines[1]).toMatch(/^0 +2026-01-02T03:04:00.000Z +- +discuss +goal +session-open +opened by agent-1 in \//);
    expect(lines[2]).toMatch(/^1 .* explore +discuss +step +start +explore$/);
    expect(lines[4]).toMatch(/^3 .* of-a-later-version +\{"event":"of-a-later-version","x":1\}$/);
    expect(lines).toHaveLength(5);
  });

  it('omits columns on a narrow terminal, so that the summary has room', async () => {
    const here = machine();
    await withSessions(here, 's-one');
    const out: string[] = [];
    const stdout = Object.assign(sink(out), { columns: 80 });
    await runCli(['log', 's-one'], {
      stdout,
      stderr: sink(out),
      stdin: Readable.from([]),
      isTty: true,
      env: here.env,
      cwd: here.root,
      color: false,
      json: false,
      exitCode: 0,
    });
    const lines = out.join('').trim().split('\n');
    expect(lines[0]).toMatch(/^seq {2}time {12}peripheral {2}event {15}summary$/);
    expect(lines[1]).toMatch(/^0 {4}01-02 03:04:00 {2}- {11}session-open {8}opened by agent-1 in/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('shows an agent’s text without letting it control the terminal', async () => {
    const here = machine();
    await withSessions(here, 's-one');
    for (const argv of [
      ['log', 's-one'],
      ['log', 's-one', '--full'],
    ]) {
      const { out } = await here.run(...argv);
      expect(out).toContain('\\u{202e}bash');
      expect(out).not.toMatch(/[\u001b\u202e]/);
    }
  });

  it('prints whole bodies with --full, and stored entries with --json', async () => {
    const here = machine();
    await withSessions(here, 's-one');
    expect((await here.run('log', 's-one', '--full')).out).toContain('  "remedy": "hop"');
    const entries = (await here.run('log', 's-one', '--json')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; body: Json; hash: string });
    expect(entries.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
    expect(entries[2]!.body).toEqual(DENIED);
    expect(entries[2]!.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('accepts a unique prefix of an id, and suggests the nearest id if none matches', async () => {
    const here = machine();
    await withSessions(here, 's-one', 's-two', 's-twofold');
    expect((await here.run('log', 's-o')).out).toBe((await here.run('log', 's-one')).out);
    expect((await here.run('log', 's-two')).code).toBe(0);
    const many = await here.run('log', 's-');
    expect(many.code).toBe(1);
    expect(many.err).toContain('3 sessions have an id that begins with');
    const none = await here.run('log', 's-onne');
    expect(none.code).toBe(1);
    expect(none.err).toContain('Did you mean s-one?');
    expect((await here.run('log', '')).code).toBe(1);
  });
});

describe('an excerpt of foreign text', () => {
  it('is one line with escaped invisible characters and a maximum length', () => {
    expect(escapeInvisible('a\nb\u001b[31m\u202e\u200bé漢😀')).toBe('a\\u{a}b\\u{1b}[31m\\u{202e}\\u{200b}é漢😀');
    expect(excerpt('😀😀😀', 2)).toBe('😀…');
    expect(excerpt('😀😀', 2)).toBe('😀😀');
  });
});

it.runIf(isDeep)(
  'specs inferred from a full session pass check, and replay shows no difference under them',
  async () => {
    const here = machine();
    const { out } = await here.run('run', resolve('specs/scenarios/fix-a-bug.yaml'), '--json');
    const { root } = JSON.parse(out.trimEnd().split('\n').at(-1)!) as { root: string };
    onTestFinished(() => rmSync(dirname(root), { recursive: true, force: true }));
    expect((await here.run('infer', '--root', root, '--out', 'tight')).code).toBe(0);
    expect(await here.run('check', 'tight', '--root', root)).toMatchObject({ code: 0, err: '' });
    expect(await here.run('replay', '--specs', 'tight', '--root', root)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^same .*, 0 would change$/m),
    });
    expect((await here.run('replay', '--root', root)).err).toContain(
      '--specs DIR, or the folder of a hopgate.yaml with --config DIR',
    );
    const folder = join(dirname(root), 'config');
    mkdirSync(folder);
    writeFileSync(join(folder, 'hopgate.yaml'), 'mask: ["*"]\n');
    expect(await here.run('replay', '--config', folder, '--root', root)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^changed .*, [1-9]\d* would change$/m),
    });
  },
);

it('infer names the untrusted configuration instead of proposing specs that no session used', async () => {
  const talk = 'id: talk\npurpose: Talk.\ntools: [bell]\nscope: conversation\nentry: [default]\nexit: {}\n';
  const here = machine({ 'specs/peripherals/talk.yaml': talk, 'hopgate.yaml': 'specs: specs\n' });
  const session = await openSession({
    root: here.root,
    agent: 'ann',
    specs: await loadSpecs(join(here.root, 'specs')),
  });
  await session.start('talk');
  await session.detach();
  const { code, err } = await here.run('infer');
  expect(code).toBe(1);
  expect(err).toMatch(/hopgate\.yaml is not trusted; left out: specs[\s\S]*no session visited a peripheral of /);
  await here.run('trust', '--yes');
  expect(await here.run('infer')).toMatchObject({ code: 0, out: expect.stringContaining('id: talk') });
});
