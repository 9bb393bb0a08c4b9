import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { verifyConstraints } from '../../../src/audit/verify/verify-constraints.ts';
import { openSession } from '../../../src/open-session.ts';
import type { EvidenceStore } from '../../../src/ports/evidence-store.ts';
import type { Session } from '../../../src/session/session.ts';
import { loadSpecs } from '../../../src/spec/load/load-specs.ts';
import { memoryStore } from '../../../src/stores/memory.ts';
import { generateHouse } from '../../../src/world/generate-house.ts';
import { Household } from '../../../src/world/household.ts';
import { serveWorld, type WorldServer } from '../../../src/world/serve/world-server.ts';
import { depth } from '../../depth.ts';

const builtIn = await loadSpecs('specs');
const seeds = await loadSpecs('test/fixtures/specs/004');
const { bell, whistle } = builtIn.tools;
const specs = (address: string) => ({
  ...seeds,
  tools: { ...seeds.tools, bell: bell!, whistle: whistle! },
  peripherals: {
    ...seeds.peripherals,
    alfworld: { ...seeds.peripherals['alfworld']!, config: { 'alfworld-server': address, seed: 6, commands: 'never' } },
  },
});

type Event = 'play' | 'refused' | 'bell' | 'bell-read' | 'out' | 'called-out' | 'kill' | 'release';
const EVENTS: readonly Event[] = ['play', 'refused', 'bell', 'bell-read', 'out', 'called-out', 'kill', 'release'];

/** A session in a served world, next to a house that plays the same commands without any of the other events. */
class ServedGame {
  #server: WorldServer | null = null;
  #port = 0;
  #session: Session | null = null;
  readonly #store: EvidenceStore = memoryStore();
  readonly #root = mkdtempSync(join(tmpdir(), 'hopgate-life-'));
  readonly #twin = new Household(generateHouse({ seed: 6 }));
  bells = 0;

  async begin(): Promise<void> {
    await this.#serve();
    const { address } = this.#server!;
    this.#session = await openSession({ ...this.#place, specs: specs(address) });
    await this.#session.start('alfworld');
  }

  get #place() {
    return { root: this.#root, agent: 'claude', store: this.#store };
  }

  async #serve(): Promise<void> {
    this.#server = await serveWorld({ choice: { seed: 6 }, port: this.#port });
    this.#port = Number(new URL(this.#server.address).port);
  }

  async happen(event: Event, choice: number): Promise<void> {
    const session = this.#session!;
    switch (event) {
      case 'play':
      case 'refused': {
        if (this.#twin.turn().done) return;
        const { admissible } = this.#twin.turn();
        await this.#play(event === 'play' ? admissible[choice % admissible.length]! : `fly ${choice}`);
        return;
      }
      case 'bell':
        this.bells += 1;
        expect(await session.step({ tool: 'bell', args: { to: 'person:operator', text: `${choice}` } })).toMatchObject({
          ok: true,
        });
        return;
      case 'bell-read': {
        const to = `session:${session.id}`;
        const from = { from: 'person:operator', author: 'operator', ref: null };
        const message = { ...from, id: `m-${choice}-${this.bells}`, kind: 'bell', act: 'assert', to, text: 'hello' };
        await this.#store.messages!.send(message as Parameters<NonNullable<EvidenceStore['messages']>['send']>[0]);
        await session.inbox();
        return;
      }
      case 'out':
      case 'called-out': {
        const by = event === 'out' ? 'agent' : 'operator';
        const exit = event === 'out' ? 'hop-chat' : 'user-request';
        expect(await session.hop({ to: 'chat', exit, reason: 'talk', by })).toMatchObject({ ok: true });
        expect(await session.hop({ to: 'alfworld', reason: 'back' })).toMatchObject({ ok: true });
        return;
      }
      case 'kill':
        await this.#server!.close();
        await this.#serve();
        return;
      default:
        await session.detach();
        this.#session = await openSession({ ...this.#place, session: session.id });
    }
  }

  async #play(command: string): Promise<void> {
    const expected = this.#twin.step(command);
    const step = await this.#session!.step({ tool: 'alfworld-action', args: { action: command } });
    expect(step).toMatchObject({ ok: true, outcome: 'ok' });
    const result = (step as { readonly result: object }).result;
    expect(result).toMatchObject({ observation: expected.observation, step: expected.steps, won: expected.won });
  }

  async end(): Promise<void> {
    const session = this.#session!;
    const entries = await session.evidence();
    const { violations } = await verifyConstraints({ specs: session.specs, config: session.config }, entries);
    // The specs are built here, so their pin has no hash.
    expect(violations.filter(({ rule }) => rule !== 'pin')).toEqual([]);
    expect(entries.filter(({ tags }) => tags.includes('bell'))).toHaveLength(this.bells);
  }

  async clean(): Promise<void> {
    await this.#session?.detach();
    await this.#server?.close();
    rmSync(this.#root, { recursive: true });
  }
}

it('bells, hops, kills of the world and releases of the session never change the game', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...EVENTS), fc.nat(10_000)), { minLength: 5, maxLength: 25 }),
      async (events) => {
        const game = new ServedGame();
        try {
          await game.begin();
          // The first command begins the game.
          for (const [event, choice] of [['refused', 0] as const, ...events]) await game.happen(event, choice);
          await game.end();
        } finally {
          await game.clean();
        }
      },
    ),
    { numRuns: depth(4, 100) },
  );
});
