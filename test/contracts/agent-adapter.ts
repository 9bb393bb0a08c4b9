import { describe, expect, it } from 'vitest';
import type { AgentSession } from '../../src/adapters/core/agent-session.ts';
import { agentSession } from '../../src/adapters/core/local-agent-session.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import type { Session } from '../../src/session/session.ts';
import { hashSpecs } from '../../src/spec/hash-specs.ts';
import { CONTROLS } from '../../src/spec/policy/tool-ids.ts';
import type { Json, SpecSet } from '../../src/spec/types.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { type AgentWorld, agentWorld, type Start } from './agent-world.ts';

/** A call as the scripted model makes it, by our names. A text as `input` is what the model wrote instead of JSON. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: { readonly [name: string]: Json } | string;
}

/**
 * One answer of the scripted model: calls (all in one turn), or a text. The last one of a script is a text, which ends
 * the run.
 */
export type ScriptedTurn = { readonly calls: readonly ScriptedCall[] } | { readonly say: string };

/** The model's input for a turn. */
export interface SeenTurn {
  /** Names of the tools on offer, as ours: a framework's prefix is taken off. */
  readonly offered: readonly string[];
  /** The adapter's text for the model: the system prompt, or its equivalent in the framework. */
  readonly instructions: string;
  /** The results of the previous turn's calls, in order, in the form that the model reads. Empty in the first turn. */
  readonly results: readonly string[];
}

export interface Scene {
  /** The session for the adapter under test. Already open; the suite closes it. */
  readonly agentSession: AgentSession;
  /** The whole session, for adapters that need more than an AgentSession. The suite closes it. */
  readonly session: Session;
  readonly script: readonly ScriptedTurn[];
  /** A person who is asked for an approval; `shown` is what they were shown. */
  readonly person: (shown: string) => Promise<boolean>;
}

/**
 * Demands that a framework makes impossible for every adapter; the value is the printed reason. The suite then checks a
 * weaker demand.
 */
export interface Lacks {
  /** The list of tools is fixed when an agent is made, so only refusals keep the agent in its peripheral. */
  readonly changingTools?: string;
  /** The framework answers calls of absent tools itself. The model still has to see an error, and nothing may run. */
  readonly absentTools?: string;
  /** The framework answers calls of unknown tools itself. */
  readonly unknownTools?: string;
  /** The framework itself refuses arguments that do not fit the schema or are not JSON. */
  readonly malformedArguments?: string;
  /** No way to ask a person in the middle of a run. */
  readonly approvals?: string;
  /** The adapter does not add the session's prompt section itself. */
  readonly instructions?: string;
  /** A turn has at most one call. */
  readonly parallelCalls?: string;
}

export interface AgentDriver {
  /** Plays the script through the framework, and returns what the model was given for each of its turns. */
  play(scene: Scene): Promise<readonly SeenTurn[]>;
  readonly lacks?: Lacks;
}

/** The fixture's specs, in which each call of `edit` needs an approval. */
function withApprovalOfEdits(): SpecSet {
  const edit = { ...fixtureSpecs.tools['edit']!, gates: [{ kind: 'approval', by: 'operator' }] as const };
  const specs = { ...fixtureSpecs, tools: { ...fixtureSpecs.tools, edit } };
  return { ...specs, hash: hashSpecs(specs) };
}

const HOP_TO_EDIT: ScriptedCall = {
  name: 'hop',
  input: { to: 'edit', exit: 'found-target', reason: 'the bug is in src/sum.js' },
};
const FIX: ScriptedCall = { name: 'edit', input: { path: 'src/sum.js', old: 'a - b', new: 'a + b' } };
const END: ScriptedTurn = { say: 'Done.' };

/**
 * The contract of every adapter. A scripted model plays through the framework and the adapter, on a real session with
 * the real tools in a small git repository; the model's input, the effects and the evidence are judged. After each case
 * the evidence must verify clean.
 *
 * @param cases `most` leaves out those that run a command, which take longer than all others. `few` are enough for
 * an adapter that shares its core with others: they show that it translates calls, refusals, hops and approvals.
 */
export function describeAgentAdapter(
  name: string,
  makeDriver: () => AgentDriver | Promise<AgentDriver>,
  cases: 'few' | 'most' | 'all' = 'all',
): void {
  /** Plays one scene and verifies its evidence. */
  async function scene(start: Start, script: readonly ScriptedTurn[], answer: boolean | null = null) {
    const world = await agentWorld(start);
    return playOn(world, script, answer);
  }

  async function playOn(
    world: AgentWorld,
    script: readonly ScriptedTurn[],
    answer: boolean | null | ((shown: string) => boolean) = null,
    before: (session: Session) => Promise<unknown> = async () => {},
  ) {
    const driver = await makeDriver();
    const session = await world.open();
    await before(session);
    const agent = agentSession(session);
    const asked: string[] = [];
    const person = async (shown: string) => {
      asked.push(shown);
      return typeof answer === 'function' ? answer(shown) : (answer ?? false);
    };
    const seen = await driver.play({ agentSession: agent, session, script, person });
    const { state } = session;
    await agent.close();
    await world.verify();
    expect(seen.length, 'the model was asked for every turn of the script').toBe(script.length);
    const at = (turn: number): SeenTurn => {
      const one = seen[turn];
      if (!one) throw new Error(`there is no turn ${turn}`);
      return one;
    };
    return { world, seen, at, asked, state, lacks: driver.lacks ?? {} };
  }

  const variation = it.runIf(cases !== 'few');
  const withCommand = it.runIf(cases === 'all');

  const tools = ({ offered }: SeenTurn) =>
    offered.filter((tool) => !(CONTROLS as readonly string[]).includes(tool)).sort();
  const EXPLORE = ['bash-readonly', 'glob', 'grep', 'read', 'web-fetch'];
  const EDIT = ['bash', 'edit', 'read', 'write'];

  describe(`agent adapter: ${name}`, () => {
    it('offers the tools that are available here, and the controls', async (context) => {
      const { at, lacks } = await scene('explore', [END]);
      expect(at(0).offered).toEqual(expect.arrayContaining([...CONTROLS]));
      if (lacks.changingTools) return context.skip(lacks.changingTools);
      expect(tools(at(0))).toEqual(EXPLORE);
    });

    variation('offers none of the tools that the mode forbids', async (context) => {
      const { at, lacks } = await scene('outside', [
        { calls: [{ name: 'hop', input: { to: 'explore', reason: 'to look around' } }] },
        { calls: [{ name: 'mode', input: { to: 'diagnose', reason: 'to look' } }] },
        END,
      ]);
      if (lacks.changingTools) return context.skip(lacks.changingTools);
      expect([tools(at(0)), tools(at(1)), tools(at(2))]).toEqual([[], [], EXPLORE]);
    });

    variation('shows a message in the first or the second request, once, and acknowledges it', async () => {
      const world = await agentWorld('explore');
      const look: ScriptedTurn = { calls: [{ name: 'read', input: { path: 'README.md' } }] };
      const { at } = await playOn(world, [look, look, END], null, (session) =>
        world.store.messages!.send({
          id: 'm-1',
          kind: 'bell',
          act: 'suggest',
          from: 'person:operator',
          author: 'operator',
          ref: null,
          to: `session:${session.id}`,
          text: 'Check the cabinet.',
        }),
      );
      const line = '[bell 1 from person operator, suggest, id m-1] "Check the cabinet."';
      const times = (turn: number) => [at(turn).instructions, ...at(turn).results].join('\n').split(line).length - 1;
      expect(times(0) + times(1)).toBe(1);
      expect(times(2)).toBe(0);
      expect(await world.store.messages!.find('m-1')).toMatchObject({ state: 'read' });
    });

    variation('tells the model its place before the first turn', async (context) => {
      const { at, lacks } = await scene('explore', [END]);
      if (lacks.instructions) return context.skip(lacks.instructions);
      expect(at(0).instructions).toContain('explore');
      expect(at(0).instructions).toContain('found-target');
    });

    it('runs a tool and gives the model its result', async () => {
      const { at } = await scene('explore', [{ calls: [{ name: 'read', input: { path: 'src/sum.js' } }] }, END]);
      expect(at(1).results).toEqual([expect.stringContaining('export const sum')]);
    });

    it('refuses an unavailable tool, and names the path to it', async () => {
      const { at, world, lacks, state } = await scene('explore', [
        { calls: [{ name: 'write', input: { path: 'src/new.js', content: 'x' } }] },
        END,
      ]);
      expect(() => world.read('src/new.js')).toThrow();
      const [text] = at(1).results;
      if (lacks.absentTools) return void expect(text).toMatch(/write/);
      expect(text).toMatch(/tool-not-allowed/);
      expect(text).toMatch(/hop.*edit.*found-target|hop.*edit.*ready-to-edit/s);
      expect(state.denials).toBe(1);
    });

    it('offers the new tools in the turn after a hop, and names them', async (context) => {
      const { at, state, lacks } = await scene('explore', [{ calls: [HOP_TO_EDIT] }, END]);
      expect(state.peripheral).toBe('edit');
      expect(at(1).results[0]).toMatch(/edit/);
      if (lacks.changingTools) return context.skip(lacks.changingTools);
      expect(tools(at(1))).toEqual(['read']);
    });

    variation('gives refusals that lead the model to the next possible call', async () => {
      const { at, world, state } = await scene(
        'explore',
        [
          { calls: [FIX] },
          { calls: [HOP_TO_EDIT] },
          { calls: [FIX] },
          { calls: [{ name: 'mode', input: { to: 'execute', reason: 'to mend sum' } }] },
          { calls: [FIX] },
          END,
        ],
        true,
      );
      expect(at(1).results[0]).not.toBe('');
      expect(at(5).results[0]).toMatch(/src\/sum\.js/);
      expect(world.read('src/sum.js')).toContain('a + b');
      expect(state).toMatchObject({ peripheral: 'edit', mode: 'execute' });
    });

    it('asks a person for an approval, and then runs the call', async (context) => {
      const { asked, state, lacks, at } = await scene(
        'explore',
        [{ calls: [{ name: 'mode', input: { to: 'execute', reason: 'the bug is in src/sum.js' } }] }, END],
        true,
      );
      if (lacks.approvals) return context.skip(lacks.approvals);
      expect(asked).toEqual([expect.stringContaining('the bug is in src/sum.js')]);
      expect(asked[0]).toContain('execute');
      expect(state.mode).toBe('execute');
      expect(at(1).results[0]).toMatch(/execute/);
    });

    variation('asks a person for the approval of a tool’s call, and then runs the call', async (context) => {
      const world = await agentWorld('edit', withApprovalOfEdits());
      const { asked, lacks } = await playOn(world, [{ calls: [FIX] }, END], true);
      if (lacks.approvals) return context.skip(lacks.approvals);
      expect(asked).toEqual([expect.stringContaining('src/sum.js')]);
      expect(world.read('src/sum.js')).toContain('a + b');
    });

    variation('runs no other call of the turn because a person approved one', async (context) => {
      const world = await agentWorld('edit', withApprovalOfEdits());
      const other = { name: 'edit', input: { path: 'src/other.js', old: '= 1', new: '= 2' } };
      const turn = { calls: [FIX, other] };
      const { asked, lacks } = await playOn(world, [turn, END], (shown) => shown.includes('src/sum.js'));
      if (lacks.parallelCalls || lacks.approvals) return context.skip(lacks.parallelCalls ?? lacks.approvals);
      expect(asked.length).toBeGreaterThan(0);
      expect(world.read('src/sum.js')).toContain('a + b');
      expect(world.read('src/other.js')).toContain('= 1');
    });

    it('does not run a call that a person rejects, and informs the model', async (context) => {
      const { asked, state, at, lacks } = await scene(
        'explore',
        [
          { calls: [{ name: 'mode', input: { to: 'execute', reason: 'I would like to' } }] },
          { calls: [{ name: 'read', input: { path: 'README.md' } }] },
          END,
        ],
        false,
      );
      expect(state.mode).toBe('diagnose');
      expect(at(2).results[0]).toContain('A repository');
      if (lacks.approvals) return context.skip(lacks.approvals);
      expect(asked).toHaveLength(1);
      expect(at(1).results[0]).toMatch(/approv/i);
    });

    variation('does not ask a person about a call that would be refused anyway', async () => {
      const { asked, state } = await scene(
        'edit',
        [{ calls: [{ name: 'hop', input: { to: 'deploy', reason: 'ship it' } }] }, END],
        true,
      );
      expect(asked).toEqual([]);
      expect(state.peripheral).toBe('edit');
    });

    withCommand(
      'asks a person about a call that another call of the same turn made possible, at the latest when it is repeated',
      async (context) => {
        const deploy = { name: 'hop', input: { to: 'deploy', exit: 'pass', reason: 'the check passes' } };
        const first: ScriptedTurn = { calls: [{ name: 'bash-test', input: {} }, deploy] };
        const { at, asked, state, lacks, seen } = await scene('test', [first, { calls: [deploy] }, END], true);
        if (lacks.parallelCalls || lacks.approvals) return context.skip(lacks.parallelCalls ?? lacks.approvals);
        expect(asked).toHaveLength(1);
        expect(state.peripheral).toBe('deploy');
        const refused = seen[1]?.results[1];
        if (refused?.startsWith('refused:')) expect(refused).toMatch(/approval-required.*repeat this call/is);
        expect(at(1).results[0]).toMatch(/pass/);
      },
    );

    it('refuses a call that an earlier hop of the same turn made unavailable', async (context) => {
      const { at, state, lacks } = await scene('explore', [
        {
          calls: [
            { name: 'read', input: { path: 'README.md' } },
            HOP_TO_EDIT,
            { name: 'grep', input: { pattern: 'x' } },
          ],
        },
        END,
      ]);
      if (lacks.parallelCalls) return context.skip(lacks.parallelCalls);
      const [read, hop, grep] = at(1).results;
      expect(at(1).results).toHaveLength(3);
      expect(read).toContain('A repository');
      expect(hop).toMatch(/edit/);
      expect(grep).toMatch(/tool-not-allowed: edit has no tool grep/);
      expect(state.peripheral).toBe('edit');
    });

    variation('distinguishes a failed tool from a refusal', async () => {
      const { at, world, state } = await scene('edit', [
        { calls: [{ name: 'edit', input: { path: 'src/sum.js', old: 'not there', new: 'x' } }] },
        { calls: [{ name: 'write', input: { path: 'README.md', content: 'x' } }] },
        END,
      ]);
      expect(at(1).results[0]).toMatch(/text-not-found/);
      expect(at(2).results[0]).toMatch(/out-of-scope/);
      expect(at(2).results[0]).toMatch(/src\//);
      expect(state.denials).toBe(1);
      expect(world.read('README.md')).toBe('# A repository\n');
    });

    variation('refuses an unknown tool with the known ones', async () => {
      const { at, lacks } = await scene('explore', [
        { calls: [{ name: 'teleport', input: { where: 'out' } }] },
        { calls: [{ name: 'read', input: { path: 'README.md' } }] },
        END,
      ]);
      expect(at(2).results[0]).toContain('A repository');
      expect(at(1).results[0]).toMatch(/teleport/);
      if (!lacks.unknownTools) expect(at(1).results[0]).toMatch(/unknown-tool.*read/s);
    });

    variation('refuses invalid arguments and continues the run', async () => {
      const { at, lacks } = await scene('explore', [
        { calls: [{ name: 'read', input: { path: 7 } }] },
        { calls: [{ name: 'read', input: { file: 'README.md' } }] },
        { calls: [{ name: 'read', input: { path: 'README.md' } }] },
        END,
      ]);
      expect(at(3).results[0]).toContain('A repository');
      for (const turn of [1, 2]) {
        expect(at(turn).results[0]).toMatch(/path/);
        if (!lacks.malformedArguments) expect(at(turn).results[0]).toMatch(/invalid-action/);
      }
    });

    variation('refuses arguments that are not JSON and continues the run', async () => {
      const { at, lacks } = await scene('explore', [
        { calls: [{ name: 'read', input: '{"path": "README.md"' }] },
        { calls: [{ name: 'read', input: { path: 'README.md' } }] },
        END,
      ]);
      expect(at(2).results[0]).toContain('A repository');
      expect(at(1).results[0]).not.toContain('A repository');
      if (!lacks.malformedArguments) expect(at(1).results[0]).toMatch(/invalid-action/);
    });

    variation('accepts the JSON form of a hop', async () => {
      const { at, state, lacks } = await scene('explore', [
        { calls: [{ name: 'hop', input: { hop: 'discipline', reason: 'to choose a pattern' } }] },
        END,
      ]);
      if (lacks.malformedArguments) return void expect(at(1).results[0]).not.toBe('');
      expect(state.peripheral).toBe('discipline');
    });

    it('does not let a model act as the operator', async () => {
      const { state, lacks, at } = await scene('outside', [
        { calls: [{ name: 'hop', input: { to: 'edit', reason: 'asked for', by: 'operator' } }] },
        { calls: [{ name: 'mode', input: { to: 'execute', reason: 'asked for', by: 'operator', reset: true } }] },
        END,
      ]);
      expect(state).toMatchObject({ peripheral: null, mode: 'discuss' });
      if (!lacks.malformedArguments) expect(at(1).results[0]).toMatch(/entry-not-met/);
    });

    withCommand('lets another process continue the session', async (context) => {
      const { world } = await scene('edit', [{ calls: [FIX] }, END]);
      const { at, state, lacks } = await playOn(world, [
        { calls: [{ name: 'hop', input: { to: 'test', exit: 'hop-test', reason: 'mended' } }] },
        { calls: [{ name: 'bash-test', input: {} }] },
        END,
      ]);
      expect(state).toMatchObject({ peripheral: 'test', fruits: {} });
      expect(at(2).results[0]).toMatch(/pass/);
      if (lacks.changingTools) return context.skip(lacks.changingTools);
      expect(tools(at(0))).toEqual(EDIT);
      expect(tools(at(1))).toEqual(['bash-test', 'read']);
    });

    variation('refuses a second writer of the session, and tells the model', async () => {
      const world = await agentWorld('explore');
      const holder = await world.open();
      expect(await holder.step({ tool: 'read', args: { path: 'README.md' } })).toMatchObject({ ok: true });
      const { at } = await playOn(world, [{ calls: [{ name: 'read', input: { path: 'README.md' } }] }, END]);
      expect(at(1).results[0]).toMatch(/session-busy/);
    });

    variation('records everything that the model did, including refusals', async () => {
      const { world, lacks } = await scene('edit', [
        { calls: [FIX] },
        { calls: [{ name: 'grep', input: { pattern: 'sum' } }] },
        { calls: [{ name: 'hop', input: { to: 'test', exit: 'hop-test', reason: 'mended' } }] },
        END,
      ]);
      const events: string[] = [];
      for await (const { entry } of world.store.entries(world.id)) {
        const body = toBody(entry.body);
        if (body) events.push(body.event);
      }
      const last = events.slice(events.lastIndexOf('intent'));
      const denial = lacks.absentTools ? [] : ['denial'];
      expect(last).toEqual(['intent', 'outcome', ...denial, 'stop', 'hop', 'start']);
    });
    variation('passes on written text unchanged', async () => {
      const content = 'const s = "it\'s `${x}` \\\\ <é> 漢 🙂";\r\n\tdone\n';
      const { world } = await scene('edit', [
        { calls: [{ name: 'write', input: { path: 'src/é 漢.js', content } }] },
        END,
      ]);
      expect(world.read('src/é 漢.js')).toBe(content);
    });

    variation('shows the model no secret', async () => {
      const { seen } = await scene('explore', [
        { calls: [{ name: 'read', input: { path: '.env' } }] },
        { calls: [{ name: 'grep', input: { pattern: 'planted' } }] },
        { calls: [{ name: 'bash-readonly', input: { command: 'cat .env; env' } }] },
        { calls: [{ name: 'read', input: { path: '../../../../etc/hostname' } }] },
        END,
      ]);
      expect(JSON.stringify(seen)).not.toContain('planted-secret');
      expect(seen[1]?.results[0]).toMatch(/masked/);
      expect(seen[4]?.results[0]).toMatch(/out-of-scope|outside/);
    });

    withCommand('returns a failed command as a result with its exit status', async () => {
      const { at, state } = await scene('explore', [
        { calls: [{ name: 'bash-readonly', input: { command: 'echo out; echo err >&2; exit 3' } }] },
        END,
      ]);
      expect(at(1).results[0]).toMatch(/3/);
      expect(at(1).results[0]).toMatch(/out/);
      expect(at(1).results[0]).toMatch(/err/);
      expect(state.denials).toBe(0);
    });

    variation('answers questions about the session itself', async () => {
      const { at, state } = await scene('explore', [
        { calls: [{ name: 'status', input: {} }] },
        { calls: [{ name: 'why', input: { tool: 'write', args: { path: 'src/a.js', content: '' } } }] },
        { calls: [{ name: 'why', input: { tool: 'read', args: { path: 'README.md' } } }] },
        END,
      ]);
      expect(at(1).results[0]).toMatch(/explore/);
      expect(at(1).results[0]).toMatch(/found-target/);
      expect(at(2).results[0]).toMatch(/tool-not-allowed/);
      expect(at(3).results[0]).toMatch(/would be allowed/);
      expect(state.denials, 'nothing was tried').toBe(0);
    });

    variation('uses an approval once', async (context) => {
      const mode = (to: string): ScriptedTurn => ({
        calls: [{ name: 'mode', input: { to, reason: 'to work', summary: 'worked' } }],
      });
      const script = [mode('execute'), mode('discuss'), mode('diagnose'), mode('execute'), END];
      const { asked, state, lacks } = await scene('explore', script, true);
      if (lacks.approvals) return context.skip(lacks.approvals);
      expect(asked).toHaveLength(2);
      expect(state.mode).toBe('execute');
    });

    withCommand('lets a change go all the way: tested, approved, committed, pushed, reviewed', async (context) => {
      const { at, asked, state, world, lacks } = await scene(
        'test',
        [
          { calls: [{ name: 'bash-test', input: {} }] },
          { calls: [{ name: 'hop', input: { to: 'deploy', exit: 'pass', reason: 'the check passes' } }] },
          { calls: [{ name: 'bash-git', input: { sub: 'add', args: ['src/sum.js'] } }] },
          { calls: [{ name: 'bash-git', input: { sub: 'commit', args: ['-m', 'Add'] } }] },
          { calls: [{ name: 'bash-git', input: { sub: 'push', args: ['origin', 'main'] } }] },
          { calls: [{ name: 'hop', input: { to: 'reflect', exit: 'deployed', reason: 'it is out' } }] },
          END,
        ],
        true,
      );
      if (lacks.approvals) return context.skip(lacks.approvals);
      expect(asked).toHaveLength(1);
      for (const part of ['deploy', 'src/sum.js', 'the check passes']) expect(asked[0]).toContain(part);
      expect(at(2).results[0]).toMatch(/bash-git/);
      expect(world.pushed()).toContain('a + b');
      expect(state).toMatchObject({ peripheral: 'reflect', fruits: { deploy: { committed: true, pushed: true } } });
    });

    variation('refuses every call in a closed session', async (context) => {
      const world = await agentWorld('outside');
      const before = await world.open();
      expect(await before.close()).toMatchObject({ ok: true });
      const { at, state, lacks } = await playOn(world, [
        { calls: [{ name: 'hop', input: { to: 'explore', reason: 'again' } }] },
        END,
      ]);
      expect(state).toMatchObject({ closed: true, peripheral: null });
      if (lacks.absentTools) return context.skip(lacks.absentTools);
      expect(at(1).results[0]).toMatch(/session-closed/);
    });
  });
}
