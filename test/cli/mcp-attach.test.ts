import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { putCompiledClient } from '../compiled-client.ts';
import { isDeep, sample } from '../depth.ts';
import { called, done, MAIN, repository, type ServeOptions, serve, toolNames } from './mcp.ts';
import { commitAll, folder, type Machine, put } from './run.ts';

async function repositoryWithDaemon(): Promise<Machine> {
  const here = await repository();
  putCompiledClient(here.env['XDG_STATE_HOME'] ?? '');
  onTestFinished(async () => void (await here.run('daemon', 'stop')));
  return here;
}

const attach = (here: Machine, session: string | null, options: ServeOptions = {}) =>
  serve(here, ['--attach', '--agent', 'claude-code'], {
    ...options,
    env: { ...options.env, ...(session === null ? {} : { HOPGATE_SESSION: session }) },
  });

const WITHOUT = { HOPGATE_DAEMON: 'off' };

const PLACES: readonly (readonly [where: string, env: { readonly [name: string]: string }])[] = [
  ['over the daemon', {}],
  ['without a daemon', WITHOUT],
];

describe.each(sample(PLACES, 2))('hopgate mcp --attach %s', (_, env) => {
  it.runIf(isDeep)('lets several processes work in one session, one call after the other', async () => {
    const here = await repositoryWithDaemon();
    const first = await attach(here, null, { env });
    expect(first.opened).toMatchObject({ agent: 'claude-code', mode: 'discuss' });
    const { session } = first.opened;
    const second = await attach(here, session, { env });
    expect(second.opened.session).toBe(session);
    if (first.opened.peripheral === null) await done(first.client, 'hop', { to: 'explore', reason: 'look' });
    await done(second.client, 'mode', { to: 'diagnose' });
    expect(await toolNames(first.client)).toContain('grep');
    const [one, two] = await Promise.all([
      called(first.client, 'read', { path: 'src/sum.js' }),
      called(second.client, 'read', { path: 'src/sum.js' }),
    ]);
    expect([one.text, two.text]).toEqual([expect.stringContaining('a - b'), expect.stringContaining('a - b')]);
    const [thread] = (await first.client.readResource({ uri: 'hopgate://session/thread' })).contents;
    expect(thread && 'text' in thread && thread.text.match(/read src\/sum\.js/g)).toHaveLength(2);
    await first.client.close();
    await second.client.close();
    expect((await here.run('verify', session)).code).toBe(0);
  });

  it.runIf(isDeep || env !== WITHOUT)(
    'asks the person at the client, and leaves other requests to the operator',
    async () => {
      const here = await repositoryWithDaemon();
      const { client, opened } = await attach(here, null, { env, approves: true });
      await done(client, 'mode', { to: 'diagnose' });
      expect(await done(client, 'mode', { to: 'execute', reason: 'to mend' })).toContain('execute');
      const blind = await attach(here, opened.session, { env });
      await done(blind.client, 'mode', { to: 'discuss', summary: 'nothing' });
      await done(blind.client, 'mode', { to: 'diagnose' });
      const { text } = await called(blind.client, 'mode', { to: 'execute', reason: 'to mend' });
      const [, id] = /"hopgate approve (\S+)"/.exec(text) ?? [];
      expect((await here.run('approve', id ?? 'none', '--yes')).code).toBe(0);
      expect(await done(blind.client, 'mode', { to: 'execute', reason: 'to mend' })).toContain('execute');
    },
  );
});

it.runIf(isDeep)('hopgate mcp --attach continues after the daemon was killed', async () => {
  const here = await repositoryWithDaemon();
  const { client } = await attach(here, null);
  await done(client, 'mode', { to: 'diagnose' });
  const { pid } = JSON.parse((await here.run('daemon', 'status', '--json')).out) as { pid: number };
  process.kill(pid, 'SIGKILL');
  while (isThere(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  const text = await done(client, 'status');
  expect(text).toContain('diagnose');
  expect(text).not.toContain('Tools open now');
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it.runIf(isDeep)('hopgate mcp --attach stays in the repository of the hooks, wherever it was started', async () => {
  const here = await repositoryWithDaemon();
  const elsewhere = folder();
  const env = { ...here.env, CLAUDE_PROJECT_DIR: here.root } as NodeJS.ProcessEnv;
  const { status, stderr } = spawnSync(process.execPath, [MAIN, 'mcp', '--attach', '--json'], {
    cwd: elsewhere,
    env,
    input: '',
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stderr)).toMatchObject({ type: 'open', root: here.root });
});

it.runIf(isDeep)(
  'hopgate mcp --attach uses the configured repository, whichever of its folders the client was started in',
  async () => {
    const here = await repositoryWithDaemon();
    put(here.root, { 'hopgate.yaml': '', 'src/.keep': '' });
    commitAll(here.root);
    const below = join(here.root, 'src');
    for (const [cwd, more] of [
      [below, {}],
      [folder(), { CLAUDE_PROJECT_DIR: below }],
    ] as const) {
      const { status, stderr } = spawnSync(process.execPath, [MAIN, 'mcp', '--attach', '--json'], {
        cwd,
        env: { ...here.env, ...more } as NodeJS.ProcessEnv,
        input: '',
        encoding: 'utf8',
      });
      expect(status, stderr).toBe(0);
      expect(JSON.parse(stderr)).toMatchObject({ type: 'open', root: here.root });
    }
  },
);

it('hopgate mcp --attach refuses options for opening a session', async () => {
  const here = await repository();
  for (const option of [
    ['--session', 's-1'],
    ['--peripheral', 'edit'],
    ['--approve', 'all'],
    ['--unsafe-no-sandbox'],
  ]) {
    const { code, out, err } = await here.run('mcp', '--attach', ...option);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('--attach');
  }
});
