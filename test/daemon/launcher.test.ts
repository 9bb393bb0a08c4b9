import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { daemonFolder, ensurePrivateDir } from '../../src/daemon/daemon-folder.ts';
import { DaemonServer } from '../../src/daemon/daemon-server.ts';
import { encodeHeader } from '../../src/daemon/header-text.ts';
import { decodeAnswerFrame } from '../../src/daemon/hook/answer-frame.ts';
import { askDaemon, daemonSocketPath, daemonTokenPath } from '../../src/daemon/hook/ask-daemon.ts';
import { hookCommand, installLauncher } from '../../src/daemon/hook/launcher.ts';
import { serveDaemon } from '../../src/daemon/serve-daemon.ts';
import { SessionHost } from '../../src/daemon/session-host.ts';
import { isDeep, sample } from '../depth.ts';
import { makeWorld, type World } from './daemon-fixture.ts';
import { ended, preToolUse, runProgram } from './processes.ts';

const KINDS = ['compiled', 'node'] as const;

/** A world whose hooks all use the same client. */
function worldWith(kind: (typeof KINDS)[number], more: { [name: string]: string } = {}): World {
  const world = makeWorld();
  return { ...world, env: { ...world.env, ...(kind === 'compiled' ? {} : { HOPGATE_HOOK_CLIENT: kind }), ...more } };
}

async function hook(world: World, input: string, { client = 'claude-code', env = {} } = {}) {
  const { file } = installLauncher(world.env);
  return runProgram(file, [client], { ...world.env, CLAUDE_PROJECT_DIR: world.root, ...env }, input);
}

/** Another program that listens at the daemon's address. */
async function impostor(world: World, answer: (bytes: string) => string | null): Promise<Server> {
  ensurePrivateDir(daemonFolder(world.env));
  writeFileSync(daemonTokenPath(world.env), `${'a'.repeat(64)}\n`, { mode: 0o600 });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      const text = answer(chunk.toString());
      if (text === null) socket.destroy();
      else socket.end(text);
    });
  });
  server.listen(daemonSocketPath(world.env));
  await once(server, 'listening');
  world.later(() => server.close());
  return server;
}

const http = (body: string, status = '200 OK', length = Buffer.byteLength(body)): string =>
  `HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;

const DISTRUSTED: [string, (bytes: string) => string | null][] = [
  ['hangs up', () => null],
  ['answers half', () => http('hopgate 0 20 0\n{"allow"', '200 OK', 40)],
  ['answers less than it says', () => http('hopgate 0 20 0\n{"allow"')],
  ['answers more than it says', () => http('hopgate 0 0 0\n{"allow"')],
  ['answers nothing that is one', () => http('{"permissionDecision":"allow"}')],
  ['fails', () => http('hopgate 0 0 0\n', '500 Oh')],
  ['is of another version', () => http('', '503 Finishing')],
];

describe.each(sample(KINDS, 2))('a hook of the %s client', (kind) => {
  it('returns the daemon’s answer byte for byte', async () => {
    const world = worldWith(kind);
    const reason = `no: 'ä' "$(id)" \\n %s ${'x'.repeat(100_000)}\n\n`;
    const answers = [
      { exit: 0 as const, stdout: '', stderr: '' },
      { exit: 0 as const, stdout: '{"a":"ä\\n"}\n', stderr: '' },
      { exit: 2 as const, stdout: '', stderr: reason },
    ];
    const seen: [unknown, string | undefined, string | undefined][] = [];
    const daemon = await serveDaemon({
      env: world.env,
      handlers: {
        claude: async () => async (event, _host, env) => {
          seen.push([event, env['HOPGATE_SESSION'], env['CLAUDE_PROJECT_DIR']]);
          return answers[seen.length - 1]!;
        },
      },
    });
    world.later(() => daemon?.stop());
    expect(installLauncher(world.env).client).toBe(kind);
    const env = { HOPGATE_SESSION: 's-1', CLAUDE_TOKEN: 'secret' };
    for (const { exit, stdout, stderr } of answers) {
      const event = JSON.stringify({ text: `ä "x" ${'y'.repeat(200_000)}` });
      expect(await hook(world, event, { client: 'claude', env })).toEqual({ exit, signal: null, stdout, stderr });
      expect(seen.at(-1)).toEqual([JSON.parse(event), 's-1', world.root]);
    }
  });

  it.runIf(isDeep)('answers without a daemon', async () => {
    const world = worldWith(kind, { HOPGATE_DAEMON: 'off' });
    const answer = await hook(
      world,
      preToolUse(world, 'Write', { file_path: join(world.root, 'src/a.ts'), content: '' }),
    );
    expect(answer).toMatchObject({ exit: 2, stdout: '' });
    expect(answer.stderr).toMatch(/tool-not-allowed|mode-forbids/);
    expect(existsSync(daemonSocketPath(world.env))).toBe(false);
  });

  it('answers without a daemon from its own state folder, whatever a repository says', async () => {
    const world = worldWith(kind, { HOPGATE_DAEMON: 'off' });
    const other = join(world.root, 'other');
    const call = preToolUse(world, 'Write', { file_path: join(world.root, 'src/a.ts'), content: '' });
    const answer = await hook(world, call, { env: { XDG_STATE_HOME: other } });
    expect(answer).toMatchObject({ exit: 2, stderr: expect.stringMatching(/tool-not-allowed|mode-forbids/) });
    expect(existsSync(other)).toBe(false);
  });

  it.runIf(isDeep)('is refused for unreadable input', async () => {
    const world = worldWith(kind, { HOPGATE_DAEMON: 'off' });
    for (const input of ['', '{']) {
      const reply = await hook(world, input);
      expect(reply, input).toMatchObject({ exit: 2, stdout: '' });
      expect(reply.stderr).not.toBe('');
    }
  });
});

describe.each(sample(KINDS, 2))('without a daemon, the %s client', (kind) => {
  it.runIf(isDeep)('keeps all conversations of one client program in one session', async () => {
    const world = worldWith(kind, { HOPGATE_DAEMON: 'off' });
    for (const conversation of ['c1', 'c2'])
      await hook(world, preToolUse(world, 'Read', { file_path: 'src/a.ts' }, 'toolu_1', conversation));
    const sessions = ['c1', 'c2'].map((id) => world.host().conversations.stored(world.conversation(id))?.sessionId);
    expect(sessions[0]).toMatch(/^s-/);
    expect(sessions[1]).toBe(sessions[0]);
  });
});

/** The client starts Node, here a double that prints its arguments. */
describe('the compiled client and a daemon', () => {
  const kind = 'compiled';
  it.each(sample(DISTRUSTED, 2))(
    'does not trust a daemon that %s, and answers in its own process',
    async (_, answer) => {
      const world = worldWith(kind, { HOPGATE_DAEMON: 'off' });
      await impostor(world, answer);
      const { file } = installLauncher(world.env);
      const standIn = join(world.root, 'node');
      writeFileSync(standIn, '#!/bin/sh\necho "$4 $5 $6: $(cat)" >&2\nexit 2\n', { mode: 0o700 });
      const script = readFileSync(file, 'utf8').replace(/^node=.*$/m, `node='${standIn}'`);
      writeFileSync(file, script, { mode: 0o700 });
      const { HOPGATE_DAEMON: _off, ...env } = world.env as { [name: string]: string };
      const reply = await runProgram(file, ['claude-code'], env, '{"a":"ä"}');
      expect(reply).toMatchObject({ exit: 2, stdout: '' });
      expect(reply.stderr).toMatch(/^alone hook claude-code: \{"a":"ä"\}\n$/);
    },
  );
});

const OUTPUTS = [
  [' M src/a.ts\n', ''],
  ['\n\n\t 7 a\n', '\r\n why\n'],
  ['', ' a space first'],
  ['a\0b\n \n', ''],
  ['ä\u2028é', '\n'],
] as const;

describe.each(sample(KINDS, 2))('a command of the %s client', (kind) => {
  it.each(sample(OUTPUTS, 3))('prints the output byte for byte: %j, %j', async (stdout, stderr) => {
    const world = worldWith(kind);
    const answer = `hopgate 3 ${Buffer.byteLength(stdout)} ${Buffer.byteLength(stderr)}\n${stdout}${stderr}`;
    await impostor(world, () => http(answer));
    const { file } = installLauncher(world.env);
    const reply = await runProgram(file, ['run', 'a'.repeat(32)], world.env, '');
    expect(reply).toMatchObject({ exit: 3, stdout, stderr });
  });
});

it.each(sample(DISTRUSTED, 2))('the Node client does not trust a daemon that %s', async (_, answer) => {
  const world = makeWorld();
  await impostor(world, answer);
  const bytes = await askDaemon('/hook/claude-code', { env: world.env, body: '{}' }).catch(() => null);
  expect(bytes === null ? null : decodeAnswerFrame(bytes)).toBeNull();
});

describe('the running compiled client', () => {
  const kind = 'compiled';
  it('gives up in time if a daemon does not answer', async () => {
    const world = worldWith(kind);
    await impostor(world, () => '');
    const { file } = installLauncher(world.env);
    writeFileSync(file, readFileSync(file, 'utf8').replace(' 25000 ', ' 300 '), { mode: 0o700 });
    const hanging = createServer(() => {});
    rmSync(daemonSocketPath(world.env), { force: true });
    hanging.listen(daemonSocketPath(world.env));
    await once(hanging, 'listening');
    world.later(() => hanging.close());
    const reply = await runProgram(file, ['claude-code'], world.env, '{}');
    expect(reply).toMatchObject({ exit: 2, stdout: '' });
    expect(reply.stderr).toMatch(/did not answer in time|took too long/);
  });

  it('gives up in time if its input does not end', async () => {
    const world = worldWith(kind);
    await impostor(world, () => http('hopgate 0 0 0\n'));
    const { file } = installLauncher(world.env);
    writeFileSync(file, readFileSync(file, 'utf8').replace(' 25000 ', ' 300 '), { mode: 0o700 });
    const child = spawn(file, ['claude-code'], { env: world.env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.write('{');
    const reply = await ended(child);
    expect(reply).toMatchObject({ exit: 2, stdout: '' });
  });

  it('sends the variables of hopgate and its clients without secrets', async () => {
    const world = worldWith(kind);
    let asked = '';
    await impostor(world, (bytes) => {
      asked = bytes;
      return http('hopgate 2 0 2\nno');
    });
    const env = { HOPGATE_SESSION: 's-1', HOPGATE_ROOT: '/a b%ä\n', CLAUDE_TOKEN: 'secret', OTHER: 'other' };
    expect(await hook(world, '{}', { env })).toMatchObject({ exit: 2, stderr: 'no' });
    expect(asked).toContain('X-Hopgate-Env: HOPGATE_SESSION=s-1\r\n');
    expect(asked).toContain(`X-Hopgate-Env: ${encodeHeader('HOPGATE_ROOT=/a b%ä\n')}\r\n`);
    expect(asked).not.toMatch(/secret|other/);
  });

  it('refuses a token file that others can read', async () => {
    const world = worldWith(kind, { HOPGATE_DAEMON: 'off' });
    let wasAsked = false;
    await impostor(world, () => {
      wasAsked = true;
      return http('hopgate 0 0 0\n');
    });
    chmodSync(daemonTokenPath(world.env), 0o644);
    const { file } = installLauncher(world.env);
    const standIn = join(world.root, 'node');
    writeFileSync(standIn, '#!/bin/sh\nexit 2\n', { mode: 0o700 });
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^node=.*$/m, `node='${standIn}'`), { mode: 0o700 });
    const { HOPGATE_DAEMON: _off, ...env } = world.env as { [name: string]: string };
    expect(await runProgram(file, ['claude-code'], env, '{}')).toMatchObject({ exit: 2 });
    expect(wasAsked).toBe(false);
  });
});

describe.each(KINDS)('the %s client without a daemon', (kind) => {
  /** A script replaces Node here. */
  function worldOf(node: string) {
    const world = worldWith(kind, { HOPGATE_DAEMON: 'off' });
    const standIn = join(world.root, 'node');
    writeFileSync(standIn, `#!/bin/sh\n${node}\n`, { mode: 0o700 });
    const { file } = installLauncher(world.env);
    const script = readFileSync(file, 'utf8')
      .replace(/^node=.*$/m, `node='${standIn}'`)
      .replace(' 25000 ', ' 300 ');
    writeFileSync(file, script, { mode: 0o700 });
    return { world, run: () => runProgram(file, ['claude-code'], world.env, '{}') };
  }

  it.each([
    ['is killed', "printf '{}'; kill -9 $$"],
    ['fails', "printf '{}'; exit 1"],
    ['ends before it has answered', `exec ${process.execPath} -e 'process.exitCode = 1'`],
  ])('refuses if Node %s', async (_, node) => {
    const reply = await worldOf(node).run();
    expect(reply.exit).toBe(2);
    expect(reply.stderr).toMatch(/hopgate could not decide this call, so it is refused/);
  });

  it('passes on Node’s reason for a refusal', async () => {
    expect(await worldOf("echo 'because' >&2; exit 2").run()).toMatchObject({ exit: 2, stderr: 'because\n' });
  });
});

it.runIf(isDeep)('the compiled client ends a Node process that hangs', async () => {
  const world = worldWith('compiled', { HOPGATE_DAEMON: 'off' });
  const standIn = join(world.root, 'node');
  writeFileSync(standIn, '#!/bin/sh\nexec sleep 30\n', { mode: 0o700 });
  const { file } = installLauncher(world.env);
  const script = readFileSync(file, 'utf8')
    .replace(/^node=.*$/m, `node='${standIn}'`)
    .replace(' 25000 ', ' 300 ');
  writeFileSync(file, script, { mode: 0o700 });
  const reply = await runProgram(file, ['claude-code'], world.env, '{}');
  expect(reply).toMatchObject({ exit: 2, stdout: '' });
  expect(reply.stderr).toMatch(/the hook ended with status/);
});

describe('the compiled client', () => {
  it('asks the daemon of another installation after its own was removed, and refuses without one', async () => {
    const world = worldWith('compiled');
    const removed = async () => {
      const { file } = installLauncher(world.env);
      writeFileSync(file, readFileSync(file, 'utf8').replace(/entry='.*'/, "entry='/removed/main.cjs'"), {
        mode: 0o700,
      });
      return await runProgram(file, ['claude-code'], world.env, '{}');
    };
    expect(await removed()).toMatchObject({ exit: 2, stderr: expect.stringContaining('no longer installed') });
    await impostor(world, () => http('hopgate 2 0 2\nno'));
    expect(await removed()).toMatchObject({ exit: 2, stderr: 'no' });
  });

  it.runIf(isDeep)('is compiled once, for the user only', () => {
    const { env, ...rest } = worldWith('compiled');
    const world = { ...rest, env: { ...env, XDG_STATE_HOME: join(env['XDG_STATE_HOME'] ?? '', 'of-its-own') } };
    const { file, client } = installLauncher(world.env);
    const baked = /client='(.*)'/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
    const made = statSync(baked).mtimeMs;
    expect(client).toBe('compiled');
    expect(installLauncher(world.env)).toEqual({ file, client });
    expect(statSync(baked).mtimeMs).toBe(made);
    expect(statSync(baked).mode & 0o077).toBe(0);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('is not used if others could have written it', () => {
    const world = worldWith('compiled');
    const baked = /client='(.*)'/.exec(readFileSync(installLauncher(world.env).file, 'utf8'))?.[1] ?? '';
    chmodSync(baked, 0o777);
    expect(installLauncher(world.env).client).not.toBe('compiled');
  });
});

describe('a daemon that received a hook', () => {
  it.each([
    ['answers it', false, 200],
    ['ends instead if its installation was replaced', true, 503],
  ])('%s', async (_, isReplaced, expected) => {
    const world = makeWorld();
    const server = new DaemonServer({
      host: new SessionHost({ env: world.env, keepOpenMs: 0 }),
      token: 'secret',
      isReplaced: () => isReplaced,
      log: () => {},
      onFinish: () => {},
      about: () => ({}),
    });
    const socket = join(ensurePrivateDir(daemonFolder(world.env)), 'socket');
    server.http.listen(socket);
    await once(server.http, 'listening');
    world.later(() => server.finish());
    const [response] = await once(
      request({
        socketPath: socket,
        path: '/status',
        agent: false,
        headers: { authorization: 'Bearer secret' },
      }).end(),
      'response',
    );
    response.resume();
    expect(response.statusCode).toBe(expected);
  });
});

describe('the command line in the settings', () => {
  const shell = (world: World, line: string, input: string, env = {}) =>
    runProgram('/bin/sh', ['-c', line], { ...world.env, CLAUDE_PROJECT_DIR: world.root, ...env }, input);

  it('refuses with a reason if the launcher is missing or fails', async () => {
    const world = worldWith('compiled', { HOPGATE_DAEMON: 'off' });
    const line = hookCommand('claude-code', world.env);
    const { file } = installLauncher(world.env);
    for (const script of [null, '#!/bin/sh\nexit 1\n', '#!/bin/sh\nkill -9 $$\n', '#!/nowhere\n']) {
      rmSync(file, { force: true });
      if (script !== null) writeFileSync(file, script, { mode: 0o700 });
      const reply = await shell(world, line, '{}');
      expect(reply, script ?? 'gone').toMatchObject({ exit: 2, stdout: '' });
      expect(reply.stderr).toMatch(/hopgate could not answer/);
    }
  });

  it('refuses with a reason if the client, Node or the entry file is missing', async () => {
    const world = worldWith('compiled', { HOPGATE_DAEMON: 'off' });
    const { file } = installLauncher(world.env);
    const script = readFileSync(file, 'utf8');
    for (const [what, broken] of [
      ['client', script.replace(/client='.*'/, "client='/nowhere'").replace(/node='.*'/, "node='/nowhere'")],
      ['node', script.replace(/node='.*'/, "node='/nowhere'")],
      ['entry', script.replace(/entry='.*'/, "entry='/nowhere'")],
      ['a client that crashes', script.replace(/client='.*'/, "client='/bin/false'")],
    ] as const) {
      writeFileSync(file, broken, { mode: 0o700 });
      const reply = await runProgram(file, ['claude-code'], world.env, '{}');
      expect(reply, what).toMatchObject({ exit: 2, stdout: '' });
      expect(reply.stderr, what).not.toBe('');
    }
  });

  it.runIf(isDeep)('passes on an answer unchanged in a folder with special characters in its name', async () => {
    const plain = makeWorld();
    const env = {
      ...plain.env,
      XDG_STATE_HOME: join(plain.env['XDG_STATE_HOME'] ?? '', `it's a "$HOME"`),
      HOPGATE_DAEMON: 'off',
    };
    const world = { ...plain, env };
    const reply = await shell(
      world,
      hookCommand('claude-code', env),
      '{"hook_event_name":"Notification","session_id":"x"}',
    );
    expect(reply).toMatchObject({ exit: 0, stderr: '' });
  });

  it.each(sample(KINDS, 2))('of the %s client ignores variables that make programs load code', async (kind) => {
    const world = worldWith(kind, { HOPGATE_DAEMON: 'off' });
    const [conf, cache] = [join(world.root, 'openssl.cnf'), join(world.root, 'cache')];
    writeFileSync(conf, 'nodejs_conf = x\n[');
    const env = {
      NODE_OPTIONS: '--require /nowhere.js',
      OPENSSL_CONF: conf,
      NODE_COMPILE_CACHE: cache,
      BASH_ENV: '/nowhere',
      ENV: '/nowhere',
    };
    const reply = await shell(
      world,
      hookCommand('claude-code', world.env),
      '{"hook_event_name":"X","session_id":"x"}',
      env,
    );
    expect(reply).toMatchObject({ exit: 0 });
    expect(existsSync(cache)).toBe(false);
  });
});
