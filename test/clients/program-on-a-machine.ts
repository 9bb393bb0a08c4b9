/**
 * One machine of two-machines.test.ts: a real program, its scripted model and hopgate's server in one network. Arguments:
 * the program, the address of the desk, and the file of the laptop's token. Each line of stdout is a value of JSON.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { evidenceFile } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { SERVER } from '../server-name.ts';
import { ClaudeWorld, own, runToEnd } from './claude-world.ts';
import { codexWorld, hopgate, writeTree } from './codex-world.ts';
import type { Turn } from './messages-server.ts';
import { player, receiving } from './player.ts';
import type { ScriptedTurn } from './responses-server.ts';

const [program, desk = '', tokenFile = ''] = process.argv.slice(2);
const MAIN = resolve('src/cli/main.ts');
const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const received: string[] = [];
const { answering, expecting } = receiving(received);
const begun = new Promise<void>((go) => createInterface(process.stdin).once('line', () => go()));

interface Place {
  readonly root: string;
  readonly env: { readonly [name: string]: string };
}

/** Starts hopgate in the background and resolves with its first words. */
function start({ root, env }: Place, ...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const firstOutput = new Promise<string>((done, fail) => {
    child.stdout.once('data', (data) => done(String(data)));
    child.once('exit', (code) => fail(new Error(`${args.join(' ')} ended with ${code}`)));
  });
  firstOutput.catch(() => {});
  const stop = async (): Promise<void> => {
    const gone = new Promise((done) => child.once('exit', done));
    if (child.exitCode === null && child.kill('SIGTERM')) await gone;
  };
  return { said: firstOutput, stop };
}

/** Waits until the other machine is known and its program is there. */
async function bothAreThere({ root, env }: Place): Promise<void> {
  const store = sqliteStore(evidenceFile(root, env), { readOnly: true });
  while ((await store.messages!.nodes()).length === 0) await sleep(50);
  await store.close();
  say({ there: program });
  await begun;
}

async function verified({ root, env }: Place): Promise<number | null> {
  return (await runToEnd([process.execPath, MAIN, 'verify'], root, env)).code;
}

async function claude(): Promise<void> {
  const world = new ClaudeWorld();
  const server = start(world, 'serve', '--port', '0', '--agency-listen', `${desk}:4781`, '--json');
  try {
    await server.said;
    say({ token: (await world.hopgate('agency', 'token', 'laptop')).stdout.trim() });
    const act = (name: string, input: object = {}): Turn => ({ calls: [{ name: own(name), input }] });
    const codex = 'agent:codex@laptop';
    const ran = await world.run(
      player(act('status'), [
        async () => {
          await bothAreThere(world);
          return act('bell', { to: codex, text: 'hello from claude' });
        },
        expecting('claude', 'hello from codex', act('whistle', { to: codex, text: 'Which port?', seconds: 60 })),
        expecting('claude', '8080', act('status')),
        answering('claude', 'Ready?', 'quite ready', codex, (input) => act('bell', input)),
        () => act('status'),
      ]),
    );
    say({ code: ran.code, received, verified: await verified(world) });
  } finally {
    await server.stop();
    await world.close();
  }
}

async function codex(): Promise<void> {
  const act = (name: string, input: object = {}): ScriptedTurn => ({
    calls: [{ namespace: `mcp__${SERVER}`, name, input }],
  });
  const claude = 'agent:claude-code@desk';
  const place = { root: '', env: {} as Place['env'] };
  const main = player(act('status'), [
    async () => {
      await bothAreThere(place);
      return act('bell', { to: claude, text: 'hello from codex' });
    },
    expecting('codex', 'hello from claude', act('status')),
    answering('codex', 'Which port?', '8080', claude, (input) => act('bell', input)),
    () => act('whistle', { to: claude, text: 'Ready?', seconds: 60 }),
    expecting('codex', 'quite ready', { text: 'done' }),
  ]);
  const world = await codexWorld({ modelName: 'gpt-5.5', scripts: { main } });
  Object.assign(place, { root: join(world.folder, 'repository'), env: world.env });
  mkdirSync(place.root);
  writeTree(place.root, { 'README.md': 'read me\n' });
  execFileSync('git', ['init', '-q', place.root]);
  const connect = ['agency', 'connect', `http://${desk}:4781`, '--token-file', tokenFile, '--node', 'desk'];
  const connection = start(place, ...connect);
  try {
    const ran = await hopgate(world, place.root, ['codex', 'exec', '--json', 'begin']);
    say({
      code: ran.code,
      received,
      verified: await verified(place),
      ...(ran.code === 0 ? {} : { stderr: ran.stderr }),
    });
  } finally {
    await connection.stop();
    await world.close();
  }
}

await (program === 'claude' ? claude() : codex());
process.exit();
