import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultBackends } from '../../../src/default-backends.ts';
import { openSession } from '../../../src/open-session.ts';
import type { ToolBackend } from '../../../src/ports/tool-backend.ts';
import type { Session } from '../../../src/session/session.ts';
import { loadSpecs } from '../../../src/spec/load/load-specs.ts';
import type { Json, SpecSet } from '../../../src/spec/types.ts';
import { memoryStore } from '../../../src/stores/memory.ts';
import { generateHouse, houseOptionsFromId } from '../../../src/world/generate-house.ts';
import { oraclePlan } from '../../../src/world/oracle.ts';
import { serveWorld, type WorldServer } from '../../../src/world/serve/world-server.ts';

const specs = await loadSpecs('test/fixtures/specs/004');
let root: string;
let session: Session | null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hopgate-world-'));
  session = null;
});
afterEach(async () => {
  await session?.detach();
  rmSync(root, { recursive: true });
});

/** The original specs with other settings. */
function withConfig(config: { readonly [key: string]: Json }): SpecSet {
  const alfworld = specs.peripherals['alfworld']!;
  return { ...specs, peripherals: { ...specs.peripherals, alfworld: { ...alfworld, config } } };
}

async function open(config: { readonly [key: string]: Json }, more: object = {}): Promise<Session> {
  session = await openSession({ root, agent: 'claude', store: 'memory', specs: withConfig(config), ...more });
  await session.start('alfworld');
  return session;
}

const play = async (action: string, task?: string) => {
  const args = task === undefined ? { action } : { action, task };
  const step = await session!.step({ tool: 'alfworld-action', args });
  return (step.ok && step.outcome === 'ok' ? step.result : step) as { readonly [key: string]: Json };
};
const planOf = (id: string) => oraclePlan(generateHouse(houseOptionsFromId(id)!))!;

describe('alfworld-action', () => {
  it('shows the task first, and the source of each text', async () => {
    await open({ seed: 3 });
    const first = await play('look');
    const house = generateHouse({ seed: 3 });
    expect(first).toMatchObject({ step: 0, won: false, inventory: null, refused: false });
    expect(first['text']).toMatch(
      new RegExp(
        `^\\[ALFWorld\\] Task: ${house.task.description}\\n\\[ALFWorld\\] -= Welcome to TextWorld, ALFRED! =-\\n  \\n  You are in the middle of a room\\..*\\n  Your task is to: ${house.task.goal}\\.\\n\\[ALFWorld\\] Inventory: nothing\\.\\n\\[ALFWorld\\] Commands: go to `,
        's',
      ),
    );
  });

  it('is a step with the effect simulate, allowed in DIAGNOSE, with a result for the fruit', async () => {
    await open({ seed: 3 });
    const commands = planOf('seed:3');
    for (const command of commands.slice(0, -1)) expect(await play(command)).toMatchObject({ won: false });
    const last = await play(commands.at(-1)!);
    expect(last).toMatchObject({ won: true, done: true, score: 1, step: commands.length });
    expect(last['text']).toContain('[ALFWorld] Task completed! Score: 1 of 1.');
    // The agent decides: a win does not end the visit.
    expect(session!.state.peripheral).toBe('alfworld');
    const stopped = await session!.hop({ to: 'reflect', exit: 'won', reason: 'won' });
    expect(stopped).toMatchObject({ ok: true, fruit: { won: true, score: 1, 'world-steps': commands.length } });
  });

  it.each([
    ['always', true, true],
    ['on-refusal', false, true],
    ['never', false, false],
  ])('lists the admissible commands %s', async (commands, first, refused) => {
    await open({ seed: 3, commands });
    expect(String((await play('look'))['text']).includes('Commands: ')).toBe(first);
    expect(String((await play('fly'))['text']).includes('Commands: ')).toBe(refused);
  });

  it('finds a game by words of its task, or says that there is none', async () => {
    await open({});
    expect(await play('look', 'put an apple in the fridge')).toMatchObject({
      observation: expect.stringMatching(/Your task is to: put (a|some) apple (in|on) fridge\.$/),
    });
    const before = session!.state.backpack['alfworld-state'];
    expect(JSON.stringify(await play('look', 'put an elephant in the fridge'))).toContain('No house has the task');
    expect(session!.state.backpack['alfworld-state']).toEqual(before);
  });

  it.each([
    ['bell joe "hi"', String.raw`Call the tool \"bell\".`],
    ['hop-out "stuck"', 'Hop to another peripheral.'],
  ])('does not play %s', async (line, remedy) => {
    await open({ seed: 3 });
    expect(JSON.stringify(await play(line))).toContain(remedy);
  });

  it.each([
    ['gopher://x', 'is not an address'],
    ['http://example.com:3456', 'The world is on another machine'],
    ['ws://10.0.0.1/', 'The world is on another machine'],
  ])('refuses the configured server %s', async (server, why) => {
    await open({ 'alfworld-server': server });
    expect(JSON.stringify(await play('look'))).toContain(why);
  });
});

describe('a game', () => {
  it('continues after chat and reflect, and after the process has ended', async () => {
    const store = memoryStore();
    await open({ seed: 3 }, { store });
    const commands = planOf('seed:3');
    await play(commands[0]!);
    expect(await session!.hop({ to: 'chat', exit: 'stuck', reason: 'stuck' })).toMatchObject({ ok: true });
    expect(await session!.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'think' })).toMatchObject({ ok: true });
    const id = session!.id;
    await session!.detach();
    session = await openSession({ root, agent: 'claude', store, session: id });
    expect(await session.hop({ to: 'chat', exit: 'par-generated', reason: 'done' })).toMatchObject({ ok: true });
    expect(await session.hop({ to: 'alfworld', exit: 'hop-alfworld', reason: 'on' })).toMatchObject({ ok: true });
    const next = await play(commands[1]!);
    expect(next).toMatchObject({ step: 2 });
    // The household ended with the process, so the log was played again.
    expect(next['text']).toContain('[hopgate] The world had lost your game. The game was started again');
    for (const command of commands.slice(2)) await play(command);
    expect(await session.hop({ to: 'chat', exit: 'won', reason: 'won' })).toMatchObject({
      fruit: { won: true },
    });
  });

  describe('over HTTP', () => {
    let server: WorldServer;
    let port: number;
    const serve = async () => {
      server = await serveWorld({ choice: { seed: 1 }, port: port ?? 0 });
      port = Number(new URL(server.address).port);
    };
    beforeEach(serve);
    afterEach(() => server.close());

    it('continues after the world was killed', async () => {
      await open({ 'alfworld-server': server.address, seed: 6 });
      const commands = planOf('seed:6');
      for (const command of commands.slice(0, -1)) await play(command);
      await session!.hop({ to: 'chat', exit: 'hop-chat', reason: 'ask' });
      await server.close();
      await session!.hop({ to: 'alfworld', exit: 'hop-alfworld', reason: 'on' });
      expect(JSON.stringify(await play('look'))).toContain('does not answer');
      await serve();
      const last = await play(commands.at(-1)!);
      expect(last).toMatchObject({ won: true, step: commands.length });
      expect(last['text']).toContain(`your ${commands.length - 1} commands had the same answers`);
    });

    it('is reported as lost if another client moved the world', async () => {
      await open({ 'alfworld-server': server.address, seed: 6 });
      await play('look');
      await fetch(`${server.address}/step`, { method: 'POST', body: '{"action":"look"}' });
      expect(JSON.stringify(await play('inventory'))).toContain(
        'Your game cannot continue: the world is in another state: seed:6 after 1 commands, not seed:6 after 0. Start another one',
      );
      expect(await play('look', 'any')).toMatchObject({ step: 0 });
    });
  });
});

it('the default backends serve the tool', () => {
  const served = defaultBackends(memoryStore(), { unsafeNoSandbox: false }).flatMap(({ tools }: ToolBackend) => tools);
  expect(served).toContain('alfworld-action');
});
