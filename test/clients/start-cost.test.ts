import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLAUDE_BIN, ClaudeWorld, call, own, type Run } from './claude-world.ts';
import { CODEX_BIN, codexWorld, runToEnd, writeTree } from './codex-world.ts';
import type { Step } from './messages-server.ts';

let world: ClaudeWorld;
beforeEach(() => {
  world = new ClaudeWorld();
});
afterEach(() => world.close());

const done = { text: 'done' };
/** Pairs of a bare client and one in hopgate, each with a start of Node. */
const [PAIRS, STARTS] = [7, 5];
/** Maximum delay of the first answer, in milliseconds. */
const MAX_MS = 1200;
/**
 * The same delay in starts of Node (35 ms each), for a busy machine. They are measured between the two clients of a
 * pair, so that load slows both sides of the ratio.
 */
const MAX_STARTS = MAX_MS / 35;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** The time of a start of Node at the present load, in milliseconds. */
const startOfNode = (): number => {
  const times = Array.from({ length: STARTS }, () => {
    const from = performance.now();
    execFileSync(process.execPath, ['-e', '0']);
    return performance.now() - from;
  });
  return median(times);
};

/**
 * Compares the times to the first request of a bare client and of one in hopgate. A pair is measured at the same load,
 * in turns either side first; the first pair only warms up.
 *
 * @returns the median of the additional time as a share of its limit, in milliseconds or in starts of Node
 */
async function compared(bare: () => Promise<number>, ours: () => Promise<number>): Promise<number> {
  const pairs: { readonly more: number; readonly ratio: number; readonly starts: number }[] = [];
  for (let at = 0; at <= PAIRS; at++) {
    const one = at % 2 === 0 ? await bare() : await ours();
    const node = startOfNode();
    const two = at % 2 === 0 ? await ours() : await bare();
    const [without, within] = at % 2 === 0 ? [one, two] : [two, one];
    if (at > 0) pairs.push({ more: within - without, ratio: within / without, starts: (within - without) / node });
  }
  const [more, ratio, starts] = (['more', 'ratio', 'starts'] as const).map((of) => median(pairs.map((one) => one[of])));
  console.log(
    `first answer: ${Math.round(more!)} ms more, ${ratio!.toFixed(2)} times the bare client, ${starts!.toFixed(1)} starts of Node (at most ${MAX_MS} ms or ${MAX_STARTS.toFixed(1)} starts)`,
  );
  return Math.min(more! / MAX_MS, starts! / MAX_STARTS);
}

/** The compiled command line, as a user installs it. */
const DIST = resolve('dist/cli.js');
beforeAll(() => {
  if (CLAUDE_BIN || CODEX_BIN) execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'pipe' });
}, 240_000);

/** A token of English or JSON is about four characters. */
const tokens = (characters: number): number => Math.round(characters / 4);
const sent = ({ requests }: Run): number => requests.at(-1)!.characters;

describe.skipIf(!CLAUDE_BIN)('the cost of hopgate in Claude Code', () => {
  it('is at most 3500 tokens for a whole fix', async () => {
    const edit = call('Edit', { file_path: world.path('src/a.js'), old_string: 'one', new_string: 'two' });
    const read = call('Read', { file_path: world.path('src/a.js') });
    const moves = [call(own('hop'), { to: 'edit', exit: 'hop-edit', reason: 'to fix it', mode: 'execute' })];
    const ours = await world.run([...moves, read, edit, done, done] as Step[], { own: ['--approve', 'execute'] });
    expect(ours.results.map(({ failed }) => failed)).toEqual([false, false, false]);
    world.git('checkout', '-q', '.');
    const bare = await world.run([read, edit, done], { bare: true });
    const cost = tokens(sent(ours) - sent(bare));
    console.log(`whole fix: ${cost} tokens of hopgate, ${(sent(ours) / sent(bare)).toFixed(2)} times the bare client`);
    expect(cost).toBeLessThanOrEqual(3500);
  });

  it('is at most 1.2 s until the first answer, with the daemon running', async () => {
    const first = ({ requests, startedAt }: Run): number => requests[0]!.at - startedAt;
    const share = await compared(
      async () => first(await world.run([done], { bare: true })),
      async () => first(await world.run([done], { cli: DIST })),
    );
    expect(share).toBeLessThanOrEqual(1);
  });
});

describe.skipIf(!CODEX_BIN)('the cost of hopgate in Codex', () => {
  it('is at most 1.2 s until the first answer, with the daemon running', async () => {
    const scripts = { main: Array.from({ length: 2 * PAIRS + 2 }, () => done) };
    const codex = await codexWorld({ modelName: 'gpt-5.5', scripts });
    try {
      const repo = join(codex.folder, 'repo');
      writeTree(repo, { 'src/a.js': 'one\n' });
      execFileSync('git', ['init', '-q', '-b', 'main', repo]);
      const env = { ...codex.env, CODEX_BIN: CODEX_BIN ?? '' };
      const first = async (...command: [string, ...string[]]) => {
        const [before, startedAt] = [codex.model.requests.length, performance.now()];
        const { stderr } = await runToEnd(command, { cwd: repo, env });
        const request = codex.model.requests[before];
        if (!request) throw new Error(stderr);
        return request.at - startedAt;
      };
      const share = await compared(
        () => first(CODEX_BIN ?? '', 'exec', 'begin'),
        () => first(process.execPath, DIST, 'codex', 'exec', 'begin'),
      );
      expect(share).toBeLessThanOrEqual(1);
    } finally {
      await codex.close();
    }
  });
});
