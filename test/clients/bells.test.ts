import { execFileSync } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { depth } from '../depth.ts';
import { SERVER } from '../server-name.ts';
import { CLAUDE_BIN, ClaudeWorld, own } from './claude-world.ts';
import { CODEX_BIN, codexWorld, hopgate, writeTree } from './codex-world.ts';
import type { Step } from './messages-server.ts';
import type { ScriptStep } from './responses-server.ts';

/** The number of bells to ring. */
const BELLS = depth(16, 100);
/** The turns of a model between two prompts. */
const PER_PROMPT = 8;

/**
 * The moves of a model, in turn: calls that run, that are refused, that fail, of hopgate's own tools, and several at
 * once.
 */
const MOVES = ['read', 'status', 'refused', 'missing', 'two'] as const;
type Move = (typeof MOVES)[number] | 'begin' | 'end';

/** Rings bell `nth` and waits until it is in the inbox. */
type Ring = (nth: number) => Promise<void>;

/**
 * The turns of one prompt. The model rings a bell before each of its answers, in the middle of the agent's turn; the
 * last answer ends the turn.
 *
 * @param first the first bell
 */
const turnsOf = <T>(first: number, ring: Ring, answer: (move: Move) => T) =>
  Array.from({ length: PER_PROMPT }, (_, at) => async () => {
    const nth = first + at;
    if (nth < BELLS) await ring(nth);
    if (nth === 0) return answer('begin');
    return answer(at === PER_PROMPT - 1 ? 'end' : MOVES[nth % MOVES.length]!);
  });

/** The bells in each request, by their texts. */
const bellsIn = (texts: readonly string[]): readonly number[] =>
  [...texts.join('\n').matchAll(/\[bell \d+ from person operator[^\]]*\] "bell-(\d+)"/g)].map(([, nth]) => Number(nth));

/** Each bell is in the request after the one in which it was rung, and in no other. */
function expectEachInTheNext(requests: readonly (readonly number[])[]): void {
  expect(requests.flat()).toEqual(Array.from({ length: BELLS }, (_, nth) => nth));
  expect(requests.slice(1, BELLS + 1)).toEqual(Array.from({ length: BELLS }, (_, nth) => [nth]));
}

describe.skipIf(!CLAUDE_BIN)('Claude Code in hopgate', () => {
  it('gets each of many bells once, in its very next request, also in the middle of a turn', async () => {
    const world = new ClaudeWorld();
    onTestFinished(() => world.close());
    const ring: Ring = async (nth) => {
      const rung = await world.hopgate('bell', 'agent:claude-code', `bell-${nth}`, '--root', world.root);
      expect(rung).toMatchObject({ code: 0 });
    };
    const read = (path: string) => ({ name: 'Read', input: { file_path: world.path(path) } });
    const answer = (move: Move) =>
      ({
        begin: { calls: [{ name: own('mode'), input: { to: 'diagnose', reason: 'look' } }] },
        read: { calls: [read('src/a.js')] },
        status: { calls: [{ name: own('status'), input: {} }] },
        refused: { calls: [{ name: 'Write', input: { file_path: world.path('src/b.js'), content: 'x' } }] },
        missing: { calls: [read('src/none.js')] },
        two: { calls: [read('src/a.js'), read('README.md')] },
        end: { text: 'done' },
      })[move];
    const requests: (readonly number[])[] = [];
    let args: readonly string[] = [];
    for (let first = 0; first <= BELLS; first += PER_PROMPT) {
      const run = await world.run(turnsOf(first, ring, answer) as readonly Step[], { args });
      expect(run).toMatchObject({ code: 0 });
      requests.push(
        ...run.requests.map(({ texts, results }) => bellsIn([...texts, ...results.map(({ text }) => text)])),
      );
      args = ['--resume', /--resume (\S+)/.exec(run.stderr)?.[1] ?? ''];
    }
    expectEachInTheNext(requests);
    const [session, ...others] = await world.sessions();
    expect(others).toEqual([]);
    expect((await world.hopgate('verify', session!, '--root', world.root)).code).toBe(0);
  }, 1_200_000);
});

describe.skipIf(!CODEX_BIN)('Codex in hopgate', () => {
  it('gets each of many bells once, in its very next request, also in the middle of a turn', async () => {
    const ring: Ring = async (nth) => {
      expect(await hopgate(world, repo, ['bell', 'agent:codex', `bell-${nth}`])).toMatchObject({ code: 0 });
    };
    const tool = (name: string, input: object = {}) => ({ namespace: `mcp__${SERVER}`, name, input });
    const shell = (cmd: string) => ({ name: 'exec_command', input: { cmd } });
    const answer = (move: Move) =>
      ({
        begin: { calls: [tool('mode', { to: 'diagnose', reason: 'look' })] },
        read: { calls: [tool('read', { path: 'src/a.js' })] },
        status: { calls: [tool('status')] },
        refused: { calls: [shell('echo x > made.txt')] },
        missing: { calls: [tool('read', { path: 'src/none.js' })] },
        two: { calls: [tool('read', { path: 'src/a.js' }), tool('status')] },
        end: { text: 'done' },
      })[move];
    const main: ScriptStep[] = [];
    for (let first = 0; first <= BELLS; first += PER_PROMPT) main.push(...turnsOf(first, ring, answer));
    const world = await codexWorld({ modelName: 'gpt-5.5', scripts: { main } });
    onTestFinished(() => world.close());
    const repo = `${world.folder}/repo`;
    writeTree(repo, { 'README.md': 'read me\n', 'src/a.js': 'one\n' });
    execFileSync('git', ['init', '-q', '-b', 'main', repo]);
    for (let first = 0; first <= BELLS; first += PER_PROMPT) {
      const resumed = first === 0 ? [] : ['resume', '--last'];
      const run = await hopgate(world, repo, ['codex', 'exec', '--json', ...resumed, 'go on']);
      expect(run).toMatchObject({ code: 0 });
    }
    expectEachInTheNext(
      world.model.requests.map(({ messages, results }) => bellsIn([...messages, ...results.map(({ text }) => text)])),
    );
  }, 1_200_000);
});
