import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { isAlive } from '../../src/base/process.ts';
import { evidenceFile } from '../../src/project/state-dir.ts';
import { loadNodeSqlite } from '../../src/stores/sqlite/node-sqlite.ts';
import { agencyWith, countingAgent, folder, INPUTS } from '../agency/agency-nodes.ts';
import { isDeep } from '../depth.ts';
import { until } from '../server/serve-world.ts';
import { machine } from './run.ts';

const TALK = 'talk:\n  entry: Answer.\n  inputs: [what]\n  prompt-template: "{{what}}"\n  response: { type: text }\n';
const SCRIPTED = 'x: { location: local, driver: scripted, replies: [a view] }';

describe('hopgate agency', () => {
  it('runs an agent, and ends with exit code 1 and the remedy if the run fails', async () => {
    const at = machine();
    const agency = agencyWith(SCRIPTED, TALK);
    const run = (...args: string[]) => at.run('agency', 'run', '--agency', agency, ...args);
    expect(await run('x', 'talk', '--input', 'what=eggs')).toMatchObject({ code: 0, out: 'a view\n' });
    const json = await run('x', 'talk', '--input', 'what=eggs', '--json');
    expect(Object.keys(JSON.parse(json.out))).toEqual(['ok', 'response', 'meta']);
    expect(await run('x', 'talk')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/talk needs what\n.*--input NAME=/),
    });
    expect(await run('z', 'talk')).toMatchObject({ code: 1, err: expect.stringContaining('Name one of these: x.') });
    const unknown = await run('x', 'talk', '--input', 'what=1', '--input', 'wat=2', '--json');
    expect([unknown.code, JSON.parse(unknown.out).error.code]).toEqual([1, 'unknown-inputs']);
    expect(await run('x', 'talk', '--key', '')).toMatchObject({
      code: 2,
      err: expect.stringContaining("'--key <key>'"),
    });
    expect(await run('x', 'talk', '--file', 'a')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--session ID'),
    });
    expect((await run('x', 'talk', '--session', 's-1')).err).toContain('Start "hopgate serve"');
  });

  it('makes no token for a name that no address can have', async () => {
    for (const name of ['', 'a b'])
      expect(await machine().run('agency', 'token', name)).toMatchObject({ code: 2, out: '' });
  });

  it('checks the files that the agents name', async () => {
    const at = folder();
    writeFileSync(join(at, 'empty.token'), '');
    const agency = agencyWith(
      [
        'a: { location: remote, url: "http://127.0.0.1:9", token-file: none.token }',
        `b: { location: local, driver: http, url: "http://127.0.0.1:9", token-file: ${at} }`,
        `c: { location: remote, url: "http://127.0.0.1:9", token-file: ${at}/empty.token }`,
        'd: { location: local, driver: claude-code, cwd: none }',
        'e: { location: local, driver: ai-sdk, module: none.mjs }',
      ].join('\n'),
      TALK,
    );
    const { code, err } = await machine().run('agency', 'check', '--agency', agency);
    expect(code).toBe(1);
    expect(err.split('\n').filter((line) => line.includes('  agents.'))).toEqual([
      `  line 1  agents.a.token-file: ${agency}/none.token does not exist`,
      `  line 2  agents.b.token-file: ${at} is a folder, not a file`,
      `  line 3  agents.c.token-file: ${at}/empty.token is empty`,
      `  line 4  agents.d.cwd: ${agency}/none does not exist`,
      `  line 5  agents.e.module: ${agency}/none.mjs does not exist`,
    ]);
  });

  it('says that messages are not exchanged although the node is connected', async () => {
    let requests = 0;
    const node = createServer((_, response) => {
      response.writeHead(503).end('{}');
      // Another connection as the same node ends the command, here after its first requests were answered.
      if (++requests > 4) for (const socket of sockets.clients) socket.close(4001);
    }).listen(0, '127.0.0.1');
    const sockets = new WebSocketServer({ server: node });
    onTestFinished(() => void node.close());
    await once(node, 'listening');
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    const at = machine({ 'desk.token': 'secret' });
    const { err } = await at.run('agency', 'connect', url, '--token-file', join(at.root, 'desk.token'));
    expect(err).toContain(`connected to ${url}\n`);
    expect(err).toContain('messages with 127.0.0.1 cannot be exchanged: HTTP status 503\n');
  });

  it('shows the remedy of another node that refuses a run, with the key of the run', async () => {
    const error = { message: 'there is no session "s"', remedy: 'Send it again with the same key.' };
    const node = createServer((_, response) => response.writeHead(404).end(JSON.stringify({ error }))).listen(0);
    onTestFinished(() => void node.close());
    await once(node, 'listening');
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    const agency = agencyWith(`x: { location: remote, url: "${url}" }`, TALK);
    const { err } = await machine().run('agency', 'run', 'x', 'talk', '--agency', agency, '--key', 'k1');
    expect(err).toMatch(/answered there is no session "s"\n.*Send it again with --key k1\./);
  });

  it('names the address of an agent that is down, and the remedy', async () => {
    const agency = agencyWith(
      'x: { location: local, driver: http, url: "http://127.0.0.1:1/", honours: [fs, shell, http] }',
      TALK,
    );
    const { code, err } = await machine().run('agency', 'run', 'x', 'talk', '--agency', agency, '--input', 'what=1');
    expect(code).toBe(1);
    expect(err).toMatch(
      /http:\/\/127\.0\.0\.1:1\/ cannot be reached: (?!fetch failed).+\n.*Start it, or correct "url"/,
    );
  });

  it('runs several agents, and says which failed', async () => {
    const args = Object.entries(INPUTS).flatMap(([name, value]) => ['--input', `${name}=${value}`]);
    const agency = agencyWith(SCRIPTED);
    const all = await machine().run('agency', 'fan-out', 'x,y', 'par-participant', '--agency', agency, ...args);
    expect(all).toMatchObject({ code: 1, out: expect.stringMatching(/^x: a view\ny: unknown-agent: /) });
  });

  it('ends the agent when its caller stops waiting and no server runs, and says so', async () => {
    const agent = await countingAgent(60_000);
    const agency = agencyWith(
      `x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`,
      TALK,
    );
    const at = machine();
    const waited = await at.run(
      ...['agency', 'run', 'x', 'talk', '--agency', agency, '--input', 'what=1', '--wait', '0.1', '--json'],
    );
    expect(JSON.parse(waited.out).error).toMatchObject({
      code: 'timed-out',
      remedy: expect.stringContaining('hopgate serve'),
    });
    await until(() => agent.left() === 1);
  });

  it.runIf(isDeep).each(['by this command', 'by a server'])(
    'ends the agent when its command is interrupted: run %s',
    async (by) => {
      const at = folder();
      const [program, pidFile] = [join(at, 'claude'), join(at, 'pid')];
      writeFileSync(program, `#!/bin/sh\necho $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}\nexec sleep 600\n`);
      chmodSync(program, 0o755);
      const config = join(at, 'config/hopgate');
      mkdirSync(config, { recursive: true });
      renameSync(
        agencyWith(`x: { location: local, driver: claude-code, program: ${program} }`, TALK),
        `${config}/agency`,
      );
      const env = { PATH: process.env['PATH'], HOME: at, XDG_CONFIG_HOME: join(at, 'config'), XDG_RUNTIME_DIR: at };
      const start = (...args: string[]) => {
        const child = spawn(process.execPath, [resolve('src/cli/main.ts'), ...args], {
          ...{ env, cwd: at },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = new Promise<number | null>((done) => child.once('close', done));
        const printed = { out: '' };
        child.stdout.on('data', (chunk) => (printed.out += chunk));
        const end = () => {
          child.kill('SIGINT');
          return ended;
        };
        onTestFinished(async () => void (await end()));
        return { said: printed, end };
      };
      if (by === 'by a server') {
        const { said } = start('serve', '--port', '0');
        await until(() => said.out.includes('hopgate serves at'));
      }
      const { said, end } = start('agency', 'run', 'x', 'talk', '--input', 'what=1', '--json');
      await until(() => existsSync(pidFile));
      expect([await end(), JSON.parse(said.out).error.code]).toEqual([1, 'cancelled']);
      await until(() => !isAlive(Number(readFileSync(pidFile, 'utf8'))));
    },
  );
});

it('hopgate verify checks only the chain of a review, which is not a session of hopgate', async () => {
  const at = machine({ 'a.txt': 'a\n' });
  const agency = agencyWith(SCRIPTED);
  const rung = await at.run('par-bell', '--agents', 'x', '--par', 'p1', '--title', 'Debrief', '--agency', agency);
  expect(rung).toMatchObject({ code: 0, out: expect.stringContaining('x: a view') });
  const verdict = await at.run('verify', '--strict');
  expect(verdict).toMatchObject({ code: 0, out: expect.stringMatching(/^foreign {2}p1 {2}1 entry/) });
  expect(JSON.parse((await at.run('verify', 'p1', '--json')).out)).toMatchObject({ ok: true, foreign: true });

  const { to } = JSON.parse((await at.run('send', 'Who is here?', '--json')).out) as { to: string };
  const session = to.slice('session:'.length);
  const db = new (loadNodeSqlite().DatabaseSync)(evidenceFile(at.root, at.env));
  db.exec("UPDATE sessions SET pin = ''");
  db.close();
  expect((await at.run('verify', session)).all).toContain('violated');
});
