import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { CLAUDE_BIN } from './claude-world.ts';
import { CODEX_BIN } from './codex-world.ts';

/** Each machine is a network namespace; a pair of virtual interfaces joins them. */
const DESK = '10.214.0.1';
const LAPTOP = '10.214.0.2';
const spaceOf = (name: string): string => `hgc${process.pid}${name}`;
const ip = (line: string): void => void execFileSync('ip', line.split(' '), { stdio: 'pipe' });

function whyNot(): string | null {
  if (!CLAUDE_BIN || !CODEX_BIN) return 'CLAUDE_BIN and CODEX_BIN name no programs';
  if (process.getuid?.() !== 0) return 'only root makes network namespaces';
  try {
    ip(`netns add ${spaceOf('try')}`);
    ip(`netns del ${spaceOf('try')}`);
    return null;
  } catch {
    return 'network namespaces cannot be made here';
  }
}
const reason = whyNot();
if (reason !== null) console.log(`Two real programs on two machines are not run: ${reason}.`);

function joinMachines(): void {
  for (const name of ['desk', 'laptop']) {
    ip(`netns add ${spaceOf(name)}`);
    onTestFinished(() => ip(`netns del ${spaceOf(name)}`));
    ip(`-n ${spaceOf(name)} link set lo up`);
  }
  ip(`-n ${spaceOf('desk')} link add eth0 type veth peer name eth0 netns ${spaceOf('laptop')}`);
  for (const [name, address] of [
    ['desk', DESK],
    ['laptop', LAPTOP],
  ] as const) {
    ip(`-n ${spaceOf(name)} addr add ${address}/24 dev eth0`);
    ip(`-n ${spaceOf(name)} link set eth0 up`);
  }
}

interface Said {
  readonly token?: string;
  readonly there?: string;
  readonly code?: number | null;
  readonly received?: readonly string[];
  readonly verified?: number | null;
}

/** Starts a program on a machine. `next` is the next line that it says; it fails when the program ends. */
function on(machine: string, program: string, ...args: string[]): { child: ChildProcess; next: () => Promise<Said> } {
  const script = resolve('test/clients/program-on-a-machine.ts');
  const command = ['netns', 'exec', spaceOf(machine), process.execPath, script, program, DESK, ...args];
  const child = spawn('ip', command, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  const ended = new Promise((done) => child.once('exit', done));
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
  });
  return {
    child,
    next: async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${program} said nothing more`);
      return JSON.parse(value) as Said;
    },
  };
}

it.skipIf(reason !== null)('Claude Code and Codex on two machines ring and whistle each other', async () => {
  joinMachines();
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-token-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const claude = on('desk', 'claude');
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, (await claude.next()).token ?? '', { mode: 0o600 });
  const codex = on('laptop', 'codex', tokenFile);
  expect(await Promise.all([claude.next(), codex.next()])).toEqual([{ there: 'claude' }, { there: 'codex' }]);
  for (const { child } of [claude, codex]) child.stdin!.write('go\n');
  const received = ['hello from codex', '8080', 'Ready?'].map((text) => `claude: ${text}`);
  const answers = ['hello from claude', 'Which port?', 'quite ready'].map((text) => `codex: ${text}`);
  expect(await Promise.all([claude.next(), codex.next()])).toEqual([
    { code: 0, received, verified: 0 },
    { code: 0, received: answers, verified: 0 },
  ]);
});
