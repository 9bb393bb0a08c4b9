import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProgram } from '../../src/base/process.ts';
import {
  playJoeByScript,
  playJoeInEmacs,
  type StoryParticipant,
  startAnsweringAgent,
} from '../../src/cli/world/story-participants.ts';
import { storySpecs } from '../../src/cli/world/story-specs.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import { openSession } from '../../src/open-session.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import { ensureStateDir, evidenceFile } from '../../src/project/state-dir.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { generateHouse } from '../../src/world/generate-house.ts';
import { serveWorld, type WorldServer } from '../../src/world/serve/world-server.ts';
import { SERVER } from '../server-name.ts';
import { CLAUDE_BIN, ClaudeWorld, call, own } from './claude-world.ts';
import { CODEX_BIN, codexWorld, hopgate, writeTree } from './codex-world.ts';

/** The model's move in one turn, for each client. */
interface Act {
  readonly text: string;
  readonly tool: string;
  readonly input: object;
}

const seed = 1;
const { hint } = generateHouse({ seed, asks: true });
const most = 80;
let server: WorldServer;
let port = 0;
beforeEach(async () => {
  server = await serveWorld({ choice: { seed, asks: true }, port: 0 });
  port = Number(new URL(server.address).port);
});
afterEach(() => server.close());

/** The files of a repository whose peripherals are those of the story. */
function storyFiles(): { readonly [path: string]: string } {
  const specs = storySpecs(`:alfworld-server "${server.address}"`);
  return {
    'README.md': 'A house.\n',
    'hopgate.yaml': 'specs: specs\n',
    ...Object.fromEntries(specs.map(({ file, text }) => [`specs/${file}`, text])),
  };
}

/** Joe and Codex's desk, in the store of the repository. */
async function people(root: string, env: { readonly [name: string]: string }) {
  mkdirSync(ensureStateDir(root, env), { recursive: true });
  const store = sqliteStore(evidenceFile(root, env));
  const specs = await loadSpecs(join(root, 'specs'));
  const helper = await openSession({ root, agent: 'helper', store, specs });
  await helper.start('desk');
  const knows = `The ${hint}.`;
  const joe: StoryParticipant =
    findProgram('emacs', process.env['PATH']) !== null
      ? await playJoeInEmacs({ root, env: { ...process.env, ...env }, store, printLine: () => {} }, knows)
      : await playJoeByScript(store, knows);
  const desk = startAnsweringAgent(helper, 'Open it. The answer names what is in it.');
  return {
    store,
    async end() {
      await joe.end();
      await desk.end();
      await helper.detach();
      await store.close();
    },
  };
}

/** The story as the turns of a model: it reads the answers of its calls, and nothing else. */
async function* storyTurns(store: EvidenceStore): AsyncGenerator<Act, void, string> {
  const play = (text: string, action: string): Act => ({ text, tool: 'alfworld-action', input: { action } });
  const hop = (to: string, exit: string, reason: string): Act => ({
    text: `I leave by ${exit}, to ${to}.`,
    tool: 'hop',
    input: { hop: to, exit, reason },
  });
  yield hop('alfworld', 'hop-alfworld', 'Joe asked me to play a house');
  const room = yield play('I am in alfworld, and I look around.', 'look');
  const seen = /you see (.*?)\./.exec(room)?.[1] ?? '';
  const places = [...new Set(seen.match(/[a-z]+ \d+/g) ?? [])].reverse();
  yield play('I begin at one end.', `go to ${places[0]}`);
  yield {
    text: 'I ask the helper.',
    tool: 'whistle',
    input: { to: 'agent:helper', text: 'How do I see what is in a drawer?' },
  };
  let results = yield { text: 'I ring Joe.', tool: 'bell', input: { to: 'joe', text: 'Which one is right?' } };
  results += yield hop('chat', 'stuck', 'only Joe knows the goal');
  await server.close();
  server = await serveWorld({ choice: { seed, asks: true }, port });
  const until = Date.now() + 60_000;
  const isAnswered = async () => (await store.messages!.inbox('person:joe')).some(({ state }) => state === 'answered');
  while (!(await isAnswered()) && Date.now() < until) await sleep(50);
  // Joe's answer arrives with a result, or with the client's own context.
  for (let look = 0; look < 20 && !/goes into/.test(results); look++) {
    await sleep(100);
    results += yield { text: 'I wait in chat.', tool: 'status', input: {} };
  }
  const [, thing = '', target = ''] = /The (\w+ \d+) goes into (\w+ \d+)/.exec(results) ?? [];
  yield hop('alfworld', 'hop-alfworld', `Joe says that the ${thing} goes into the ${target}`);
  for (const place of [...places.slice(1), places[0]!]) {
    let there = yield play(`I look into the ${place}.`, `go to ${place}`);
    if (there.includes('is closed')) there = yield play('I open it.', `open ${place}`);
    if (!new RegExp(`\\b${thing}\\b`).test(there)) continue;
    yield play('There it is.', `take ${thing} from ${place}`);
    break;
  }
  const there = yield play('I bring it.', `go to ${target}`);
  if (there.includes('is closed')) yield play('I open it.', `open ${target}`);
  const last = yield play('I put it there.', `move ${thing} to ${target}`);
  yield hop('reflect', last.includes('Task completed!') ? 'won' : 'stuck', 'the game is over');
}

/** The steps of a script that plays the story, and the agent's input in each turn. */
function steps<Turn>(store: () => EvidenceStore, asTurn: (act: Act) => Turn, over: Turn) {
  const inputs: string[] = [];
  let living: AsyncGenerator<Act, void, string> | null = null;
  const step = async (results: string, messages: string): Promise<Turn> => {
    const seen = `${results}\n${messages}`;
    inputs.push(seen);
    living ??= storyTurns(store());
    const next = await living.next(seen);
    return next.done ? over : asTurn(next.value);
  };
  return { inputs, steps: Array.from({ length: most }, () => step) };
}

/** The tags of the session's steps, and the fruit of its last visit to alfworld. */
async function resultIn(store: EvidenceStore, agent: string) {
  const [session] = (await store.sessions()).filter((one) => one.agent === agent);
  const counts: { [tag: string]: number } = {};
  let fruit = {};
  for await (const { entry } of store.entries(session!.sessionId)) {
    const body = toBody(entry.body);
    for (const tag of ['alfworld-step', 'bell', 'whistle', 'hop-out'])
      if (entry.tags.includes(tag)) counts[tag] = (counts[tag] ?? 0) + 1;
    if (body?.event === 'stop' && body.peripheral === 'alfworld') fruit = body.fruit;
  }
  return { session: session!.sessionId, counts, fruit };
}

const RESULT = {
  counts: { 'alfworld-step': expect.any(Number), bell: 1, whistle: 1, 'hop-out': 2 },
  fruit: { won: true, score: 1 },
};
const REPLAYED = 'The world had lost your game. The game was started again, and your 1 commands had the same answers.';

describe.skipIf(!CLAUDE_BIN)('Claude Code in a house', () => {
  it('asks by real messages, hops out, comes back to a world that was restarted, and wins', async () => {
    const world = new ClaudeWorld(storyFiles());
    const others = await people(world.root, world.env);
    try {
      expect((await world.hopgate('trust', '--yes')).code).toBe(0);
      const script = steps(
        () => others.store,
        ({ text, tool, input }) => ({ text, ...call(own(tool), input) }),
        { text: 'done' },
      );
      const run = await world.run(script.steps, { own: ['--peripheral', 'chat'] });
      const result = await resultIn(others.store, 'claude-code');
      expect([run.code, result]).toMatchObject([0, RESULT]);
      expect(script.inputs.join('\n')).toContain(REPLAYED);
      expect(script.inputs.join('\n')).toMatch(/\[bell \d+ from person joe, answer, [^\n]*goes into/);
      expect(await world.hopgate('verify', result.session)).toMatchObject({ code: 0 });
      expect(await world.hopgate('verify', result.session, '--inhabited')).toMatchObject({ code: 0 });
    } finally {
      await others.end();
      await world.close();
    }
  });
});

describe.skipIf(!CODEX_BIN)('Codex in a house', () => {
  it('asks by real messages, hops out, comes back to a world that was restarted, and wins', async () => {
    let others: Awaited<ReturnType<typeof people>> | undefined;
    const turn = ({ text, tool, input }: Act) => ({
      text,
      calls: [{ namespace: `mcp__${SERVER}`, name: tool.replaceAll('-', '_'), input }],
    });
    const script = steps(() => others!.store, turn, { text: 'done', calls: [] });
    const world = await codexWorld({ modelName: 'gpt-5.5', scripts: { main: script.steps } });
    try {
      const repo = join(world.folder, 'repo');
      writeTree(repo, storyFiles());
      execFileSync('git', ['init', '-q', '-b', 'main', repo]);
      others = await people(repo, world.env);
      expect((await hopgate(world, repo, ['trust', '--yes'])).code).toBe(0);
      const ended = await hopgate(world, repo, ['codex', '--peripheral', 'chat', 'exec', '--json', 'begin']);
      const result = await resultIn(others.store, 'codex');
      expect([ended.code, result]).toMatchObject([0, RESULT]);
      expect(script.inputs.join('\n')).toContain(REPLAYED);
      expect(await hopgate(world, repo, ['verify', result.session])).toMatchObject({ code: 0 });
    } finally {
      await others?.end();
      await world.close();
    }
  });
});
