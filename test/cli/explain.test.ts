import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadSpecs, openSession } from '../../src/index.ts';
import { scriptedBackend } from '../../src/testing/index.ts';
import { commitAll, machine } from './run.ts';

it('explain --session answers as the session would answer now, by its peripheral, mode and evidence', async () => {
  const { root, run, feed } = machine({ 'src/a.txt': 'a\n' });
  commitAll(root);
  const sessions: string[] = [];
  /** Plays lines at the prompt, and asks about a call in the session that this leaves. */
  const ask = async (lines: string, ...call: string[]) => {
    await feed(lines, 'shell');
    const all = (await run('sessions', '--json')).out.trim().split('\n');
    const ids = all.map((line) => (JSON.parse(line) as { sessionId: string }).sessionId);
    const id = ids.find((each) => !sessions.includes(each))!;
    sessions.push(id);
    const { code, out } = await run('explain', '--session', id, ...call);
    return [code, out.split('\n')[0]];
  };
  const inExplore = 'mode diagnose\nstart explore\nread src/a.txt';
  expect(await ask(inExplore, '-t', 'read', 'src/a.txt')).toEqual([0, 'allowed  read in explore, mode diagnose']);
  expect(await ask(inExplore, '-t', 'write', 'src/b.txt', 'b')).toEqual([
    1,
    'refused  write in explore, mode diagnose',
  ]);
  expect(await ask(`${inExplore}\nstop done`, '-t', 'read', 'src/a.txt')).toEqual([
    1,
    'refused  read outside of any peripheral, mode diagnose',
  ]);
  const json = await run('explain', '-t', 'read', '--json', 'src/a.txt');
  expect(json).toMatchObject({ code: 2, all: expect.stringContaining('no peripheral is named') });
});

it('explain answers for an agent that may enter the peripheral, or for the named one', async () => {
  const place = (id: string, more: string) => [
    `specs/peripherals/${id}.yaml`,
    `id: ${id}\npurpose: A place.\nscope: full-codebase\n${more}\n`,
  ];
  const { run } = machine(
    Object.fromEntries([
      place('look', 'tools: [read]\nagents: [ann]\nentry: default\nexit: [to-change]'),
      place('change', 'tools: [write]\nagents: [ann]\nentry: from-look\nexit: []'),
    ]),
  );
  const ask = (...more: string[]) =>
    run('explain', '--specs', 'specs', '-p', 'look', '-t', 'write', ...more, 'src/a.txt', 'a');
  expect((await ask()).out).toContain('hop to change');
  expect((await ask('--agent', 'bob')).out).not.toContain('hop to change');
  expect(await run('explain', '--session', 's', '--agent', 'ann', '-t', 'read')).toMatchObject({ code: 2 });
});

it('explain --session answers for a tool of the program that opened the session', async () => {
  const { root, run } = machine({
    'specs/tools.yaml':
      'tools: { query: { purpose: Reads., effect: observe, parameters: [{ name: table, role: resource, description: It. }], limits: { seconds: 1, output-bytes: 100 } } }',
    'specs/peripherals/ask.yaml': `id: ask\npurpose: Ask.\ntools: [query]\nscope: { resource: ['db:a/*'] }\nentry: default\nexit: []\n`,
  });
  commitAll(root);
  const session = await openSession({
    root,
    agent: 'dba',
    specs: await loadSpecs(join(root, 'specs')),
    backends: [scriptedBackend({ query: {} })],
  });
  await session.start('ask');
  await session.detach();
  const ask = (table: string) => run('explain', '--session', session.id, '-t', 'query', table);
  expect(await ask('db:a/x')).toMatchObject({ code: 0, out: expect.stringContaining('allowed') });
  expect(await ask('db:b/x')).toMatchObject({ code: 1, out: expect.stringContaining('out-of-scope') });
});

it('explain says that a repository has no sessions', async () => {
  const { run } = machine();
  expect(await run('explain', '--session', 's-none', '-t', 'read')).toMatchObject({
    code: 1,
    err: expect.stringContaining('has no sessions yet'),
  });
});
