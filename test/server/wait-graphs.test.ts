import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessage, sendBell } from '../../src/messages/send-message.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { MessageStore } from '../../src/ports/message-store.ts';
import type { EvidenceOfAllRepositories } from '../../src/server/all-evidence.ts';
import { type NodeMailBody, NodeMailSchema } from '../../src/server/messages/mail-schema.ts';
import { type MailPositions, NO_MAIL_POSITIONS, NodeMailExchange } from '../../src/server/messages/node-mail.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { depth } from '../depth.ts';

/** An agent or a person: the number of the machine, and the address there. */
interface Party {
  readonly machine: number;
  readonly address: string;
}

/** A whistle, as the test sees it from outside. */
interface Asked {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

const asSent = (mail: object): NodeMailBody => NodeMailSchema.parse(JSON.parse(JSON.stringify(mail)));
const keyOf = ({ machine, address }: Party): string => `${machine}/${address}`;

/** Machines in this process that all exchange mail. Each calls the others by names of its own. */
class Machines {
  readonly #stores: MessageStore[] = [];
  readonly #evidence: EvidenceStore[] = [];
  readonly #mails: NodeMailExchange[] = [];
  readonly #sent = new Map<string, MailPositions>();
  readonly #underWay = new Map<string, NonNullable<Awaited<ReturnType<NodeMailExchange['collect']>>>>();
  readonly parties: Party[] = [];
  /** Whistles that were sent and not refused. */
  readonly open = new Map<string, Asked>();
  /** Every whistle. */
  readonly all: Asked[] = [];
  readonly refused = new Map<string, string>();
  #ids = 0;

  /** Their parties, the next one always on the next machine. Every third is a person. */
  constructor(count: number) {
    for (let machine = 0; machine < count; machine++) {
      const messages = memoryStore().messages!;
      const ids = ['a', 'b'].map((name) => `${name}-${machine}-xxxxxx`);
      const sessions = async () => ids.map((sessionId) => ({ sessionId, agent: `agent-${sessionId}`, closed: false }));
      const store = { messages, sessions } as unknown as EvidenceStore;
      const repositories = () => [{ key: 'r', store }];
      this.#stores.push(messages);
      this.#evidence.push(store);
      this.#mails.push(new NodeMailExchange({ repositories } as unknown as EvidenceOfAllRepositories));
    }
    const names = ['session:a', 'session:b', 'person:operator'];
    for (let nth = 0; nth < 3 * count; nth++) {
      const machine = nth % count;
      const name = names[(machine + Math.floor(nth / count)) % 3]!;
      const address = name.startsWith('person') ? name : `${name}-${machine}-xxxxxx`;
      this.parties.push({ machine, address });
    }
  }

  /** The name of a machine on another one. */
  nameOf = (machine: number, on: number): string => `m${machine}-of-${on}`;

  isBusy = (party: Party): boolean =>
    party.address.startsWith('session:') && [...this.open.values()].some(({ from }) => from === keyOf(party));

  /** Sends a whistle and blocks its sender, unless the sender's machine refuses it. */
  async whistle(from: Party, to: Party): Promise<Asked> {
    const store = this.#stores[from.machine]!;
    const asked = { id: `m-${this.#ids++}`, from: keyOf(from), to: keyOf(to) };
    this.all.push(asked);
    const { machine, address } = to;
    const isHere = machine === from.machine;
    const byAgent = address.replace('session:', 'agent:agent-');
    const target = isHere ? address : `${this.#ids % 2 ? byAgent : address}@${this.nameOf(machine, from.machine)}`;
    if (!isHere) await store.addNode(this.nameOf(machine, from.machine));
    const post = { kind: 'whistle' as const, id: asked.id, from: from.address, to: target, text: '?' };
    const checked = await checkMessage(this.#evidence[from.machine]!, store, post);
    if (!checked.ok) throw new Error(checked.message);
    const until = Date.now() + 48 * 3_600_000;
    const cycle = await store.wait({ id: asked.id, waiter: from.address, target: checked.draft.to, until });
    if (cycle) this.refused.set(asked.id, cycle.join(' → '));
    else {
      await store.send(checked.draft);
      this.open.set(asked.id, asked);
    }
    return asked;
  }

  /** Answers the first open whistle to somebody who waits for nobody. Returns true if an agent did. */
  async answer(by: Party): Promise<boolean> {
    const asked = [...this.open.values()].find(({ to }) => to === keyOf(by));
    if (!asked || this.isBusy(by)) return false;
    const store = this.#stores[by.machine]!;
    const got = (await store.inbox(by.address)).find(({ id }) => id === asked.id || id.startsWith(`${asked.id}@`));
    if (!got) return false;
    const post = { kind: 'bell' as const, id: `m-${this.#ids++}`, from: by.address, to: got.from, text: 'yes' };
    const checked = await checkMessage(this.#evidence[by.machine]!, store, { ...post, act: 'answer', ref: got.id });
    if (!checked.ok) throw new Error(checked.message);
    await sendBell(store, checked.draft);
    this.open.delete(asked.id);
    return by.address.startsWith('session:');
  }

  /** Sends the mail of one direction, which is then under way. */
  async post(from: number, to: number): Promise<void> {
    const key = `${from} ${to}`;
    if (this.#underWay.has(key)) return;
    const due = await this.#mails[from]!.collect(this.nameOf(to, from), this.#sent.get(key) ?? NO_MAIL_POSITIONS);
    if (due) this.#underWay.set(key, due);
  }

  /** Delivers the mail that is under way in one direction; false if there is none. */
  async arrive(from: number, to: number): Promise<boolean> {
    const key = `${from} ${to}`;
    const due = this.#underWay.get(key);
    if (!due) return false;
    this.#underWay.delete(key);
    const refusals = await this.#mails[to]!.accept(this.nameOf(from, to), asSent(due.mail));
    await this.#mails[from]!.accept(this.nameOf(to, from), asSent({ refusals }));
    this.#sent.set(key, due.after);
    await this.#settle();
    return true;
  }

  /** Passes mail until there is none. */
  async passAll(): Promise<void> {
    const most = 20 * this.#stores.length ** 2;
    let passes = 0;
    for (let isNews = true; isNews; ) {
      isNews = false;
      await this.#settle();
      for (const from of this.#stores.keys())
        for (const to of this.#stores.keys())
          if (from !== to) {
            await this.post(from, to);
            if (!(await this.arrive(from, to))) continue;
            isNews = true;
            expect(++passes).toBeLessThan(most);
          }
    }
  }

  /** Whistles that are answered or refused end the wait of their sender. */
  async #settle(): Promise<void> {
    for (const { id, from } of this.all) {
      const store = this.#stores[Number(from.split('/')[0])]!;
      const answer = await store.answerTo(id);
      if (!answer) continue;
      if (answer.from.startsWith('node:')) this.refused.set(id, answer.text);
      this.open.delete(id);
      await store.endWait(id);
    }
  }
}

/** True if there is a way from one party to another by these whistles. */
function leads(asked: readonly Asked[], from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return asked.some((each) => each.from === from && leads(asked, each.to, to, seen));
}
const closes = (asked: readonly Asked[], { from, to }: Asked): boolean => leads(asked, to, from);

const party = fc.nat({ max: 23 });
/** The distance to the recipient: mostly the next party, on another machine, so that there are long ways. */
const distance = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat({ max: 7 }) });
const moves = (kinds: readonly ('whistle' | 'answer' | 'post' | 'arrive')[], most: number) =>
  fc.array(fc.record({ kind: fc.constantFrom(...kinds), one: party, further: distance }), {
    maxLength: most,
    size: 'max',
  });
/** The machines, and the parties that take part: few ones meet often. */
const WORLD = fc.record({ count: fc.integer({ min: 2, max: 8 }), parties: fc.constantFrom(4, 8, 24) });
const RUNS = { numRuns: depth(2, 40) };

/** One party of each machine: every third is a person. */
const ringOf = ({ parties }: Machines, count: number): readonly Party[] => parties.slice(0, count);

describe('waits over any number of machines', () => {
  it('are refused if they close a cycle, and only then', async () => {
    await fc.assert(
      fc.asyncProperty(
        WORLD,
        moves(['whistle', 'whistle', 'whistle', 'answer'], 40),
        async ({ count, parties }, list) => {
          const machines = new Machines(count);
          const at = (index: number) => machines.parties[index % Math.min(parties, machines.parties.length)]!;
          for (const { kind, one, further } of list) {
            if (kind === 'answer') await machines.answer(at(one));
            else if (!machines.isBusy(at(one))) {
              const before = [...machines.open.values()];
              const asked = await machines.whistle(at(one), at(one + further));
              await machines.passAll();
              expect([asked, machines.refused.has(asked.id)]).toEqual([asked, closes(before, asked)]);
              for (const each of before) expect(machines.open.has(each.id)).toBe(true);
            }
            await machines.passAll();
          }
        },
      ),
      RUNS,
    );
  });

  it('never stay in a cycle, whatever was sent at the same moment, and are refused only if there was one', async () => {
    await fc.assert(
      fc.asyncProperty(WORLD, moves(['whistle', 'post', 'arrive'], 60), async ({ count, parties }, list) => {
        const machines = new Machines(count);
        const at = (index: number) => machines.parties[index % Math.min(parties, machines.parties.length)]!;
        for (const { kind, one, further } of list)
          if (kind !== 'whistle') {
            const [from, to] = [one % count, (one + 1 + (further % (count - 1))) % count];
            await (kind === 'post' ? machines.post(from, to) : machines.arrive(from, to));
          } else if (!machines.isBusy(at(one))) await machines.whistle(at(one), at(one + further));
        await machines.passAll();
        const open = [...machines.open.values()];
        for (const each of open) expect([each, closes(open, each)]).toEqual([each, false]);
        for (const each of machines.all)
          if (machines.refused.has(each.id)) expect([each, closes(machines.all, each)]).toEqual([each, true]);
      }),
      RUNS,
    );
  });

  it.each(['on one machine', 'on two machines', 'on two machines, of which one sends its old waits again'])(
    'end with the answer, so that the recipient may whistle back immediately, %s',
    async (where) => {
      const machines = new Machines(2);
      const session = (name: string, machine: number) => ({ machine, address: `session:${name}-${machine}-xxxxxx` });
      const [ann, bob] = [session('a', 0), where === 'on one machine' ? session('b', 0) : session('b', 1)];
      await machines.whistle(ann, bob);
      await machines.passAll();
      await machines.answer(bob);
      if (where.endsWith('again')) {
        await machines.whistle({ machine: 0, address: 'person:operator' }, session('a', 1));
        await machines.post(0, 1);
        expect(await machines.arrive(0, 1)).toBe(true);
      }
      const { id } = await machines.whistle(bob, ann);
      await machines.passAll();
      expect(machines.refused.size).toBe(0);
      expect(machines.open.has(id)).toBe(true);
    },
  );

  it.each([4, 5, 8])('end if two whistles close a cycle of %i machines at the same moment', async (count) => {
    const machines = new Machines(count);
    const ring = ringOf(machines, count);
    const whistle = (index: number) => machines.whistle(ring[index]!, ring[(index + 1) % count]!);
    const half = Math.floor(count / 2);
    for (let index = 0; index < count; index++) if (index !== 0 && index !== half) await whistle(index);
    await machines.passAll();
    for (const index of [0, half]) await whistle(index);
    for (const index of [0, half]) await machines.post(index, (index + 1) % count);
    for (const index of [0, half]) await machines.arrive(index, (index + 1) % count);
    expect(machines.refused.size).toBe(0);
    await machines.passAll();
    expect(machines.refused.size).toBeGreaterThan(0);
    expect([...machines.refused.values()].join()).toContain('Ended: the whistle would wait for itself');
    const open = [...machines.open.values()];
    expect(open.some((each) => closes(open, each))).toBe(false);
  });

  it.each([4, 5, 8])('name a cycle of %i machines without the addresses of other machines', async (count) => {
    const machines = new Machines(count);
    const ring = ringOf(machines, count);
    for (const [index, from] of ring.slice(0, -1).entries()) {
      await machines.whistle(from, ring[index + 1]!);
      await machines.passAll();
    }
    const last = ring.at(-1)!;
    const { id } = await machines.whistle(last, ring[0]!);
    await machines.passAll();
    const own = last.address;
    const first = `${ring[0]!.address}@${machines.nameOf(0, count - 1)}`;
    expect(machines.refused.get(id)).toBe(
      `Not delivered: the whistle would wait for itself: ${own} → ${first} → another machine → ${own}.`,
    );
    expect(machines.open.size).toBe(count - 1);
  });
});
