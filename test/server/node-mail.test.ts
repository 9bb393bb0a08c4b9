import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tokens } from '../../src/server/access/tokens.ts';
import { EvidenceOfAllRepositories } from '../../src/server/all-evidence.ts';
import { exchangeMailWithNode } from '../../src/server/messages/exchange-mail.ts';
import { NO_MAIL_POSITIONS, NodeMailExchange } from '../../src/server/messages/node-mail.ts';
import { readNameFromNode, spellNameForNode } from '../../src/server/messages/node-waits.ts';
import { breakingWire } from '../agency/agency-nodes.ts';
import { isDeep } from '../depth.ts';
import { type Served, send, serveWorld, until } from './serve-world.ts';

/** A server that other nodes reach at `url`. */
async function reachable() {
  const served = await serveWorld({}, { agencyListen: { host: '127.0.0.1', port: 0 } });
  const url = served.http.agencyAddress!;
  return { served, url, tokenOf: (node: string) => new Tokens(served.env).ofNode(node) };
}

/** Exchanges the messages of two machines; one of them is called `desk` on the other. */
async function exchange(laptop: Served, url: string, token: string): Promise<{ readonly stop: () => Promise<void> }> {
  const ended = new AbortController();
  const world = new EvidenceOfAllRepositories(laptop.env);
  const done = exchangeMailWithNode({
    node: 'desk',
    url,
    token: () => token,
    mail: new NodeMailExchange(world),
    signal: ended.signal,
  });
  const stop = async () => {
    ended.abort();
    await done;
    await world.close();
  };
  laptop.later(stop);
  return { stop };
}

async function twoMachines() {
  const { served: desk, url, tokenOf } = await reachable();
  const laptop = await serveWorld();
  const [far, near] = [await desk.session(), await laptop.session()];
  const { stop } = await exchange(laptop, url, tokenOf('laptop'));
  const ready = async () => (await knows(laptop, near, 'desk')) && (await knows(desk, far, 'laptop'));
  await until(ready);
  return { desk, laptop, far, near, url, tokenOf, stop };
}
type Party = Awaited<ReturnType<Served['session']>>;

const knows = async (served: Served, { id, token }: Party, node: string): Promise<boolean> => {
  const { json } = await ring(served, { id, token }, { to: `person:nobody@no-such-node`, text: '?' });
  return JSON.stringify(json).includes(`agent:<id>@${node}`);
};
const ring = (served: Served, { id, token }: Party, body: object) =>
  served.ask(`POST /v1/sessions/${id}/bell`, { token, body });
const inboxOf = async (served: Served, { id, token }: Party) =>
  (await served.ask(`GET /v1/sessions/${id}/inbox`, { token })).json.messages as readonly {
    readonly [field: string]: unknown;
  }[];
const first = async (served: Served, party: Party) => {
  await until(async () => (await inboxOf(served, party)).length > 0);
  return (await inboxOf(served, party))[0]!;
};
const statesOf = async (served: Served, id: unknown) =>
  (await served.ask(`GET /v1/messages/${id}`)).json.receipts.map(({ state }: { state: string }) => state);

/**
 * The deep run cuts at every thirtieth byte of a message and its answer: 48 messages, fewer than a page of an inbox.
 * `HOPGATE_EVERY_BYTE=1` repeats that from each of thirty first bytes, which takes minutes.
 */
const [STEP, LONGEST] = isDeep ? [30, 700] : [120, 600];
const FIRST_BYTES = process.env['HOPGATE_EVERY_BYTE'] === '1' ? Array.from({ length: STEP }, (_, at) => at + 1) : [1];

describe('messages between machines', () => {
  it('arrive with their source, are answered, and leave receipts on both', async () => {
    const { desk, laptop, far, near } = await twoMachines();
    const { json } = await ring(laptop, near, { to: 'agent:builder@desk', text: 'Which port?', act: 'query' });
    expect(json).toMatchObject({ ok: true, message: { to: 'agent:builder@desk', state: 'sent' } });
    const got = await first(desk, far);
    expect(got).toMatchObject({
      from: `session:${near.id}@laptop`,
      author: 'builder@laptop',
      to: `session:${far.id}`,
      text: 'Which port?',
      act: 'query',
      id: `${json.message.id}@laptop`,
    });
    await ring(desk, far, { to: got['from'], text: '4780', act: 'answer', ref: got['id'] });
    expect(await first(laptop, near)).toMatchObject({
      from: `session:${far.id}@desk`,
      text: '4780',
      act: 'answer',
      ref: json.message.id,
    });
    await until(async () => (await statesOf(laptop, json.message.id)).includes('answered'));
    await until(async () => (await statesOf(desk, got['id'])).at(-1) === 'answered');
    for (const served of [desk, laptop]) expect((await served.ask('GET /v1/inbox')).status).toBe(200);
  });

  it.runIf(isDeep)('reach people, who are distinguished from people of this machine', async () => {
    const { desk, laptop, far, near } = await twoMachines();
    await laptop.ask('POST /v1/bell', { body: { to: `session:${far.id}@desk`, text: 'Stop.' } });
    expect(await first(desk, far)).toMatchObject({ from: 'person:operator@laptop', author: 'operator@laptop' });
    await ring(desk, far, { to: 'person:operator@laptop', text: 'Why?' });
    const inbox = async () => (await laptop.ask('GET /v1/inbox')).json.messages;
    await until(async () => (await inbox()).length > 0);
    expect(await inbox()).toMatchObject([{ text: 'Why?', from: `session:${far.id}@desk` }]);
    expect(await inboxOf(laptop, near)).toEqual([]);
  });

  it('end the wait of a whistle with the answer', async () => {
    const { desk, laptop, far, near } = await twoMachines();
    const whistled = laptop.ask(`POST /v1/sessions/${near.id}/whistle`, {
      token: near.token,
      body: { to: 'agent:builder@desk', text: 'Which port?', seconds: 60 },
    });
    const got = await first(desk, far);
    await ring(desk, far, { to: got['from'], text: '4780', act: 'answer', ref: got['id'] });
    expect((await whistled).json).toMatchObject({ ok: true, answer: { text: '4780', from: `session:${far.id}@desk` } });
  });

  it('are refused by a machine without such an inbox, and the sender gets the reason', async () => {
    const { laptop, near } = await twoMachines();
    const { json } = await ring(laptop, near, { to: 'agent:nobody@desk', text: 'a' });
    expect(await first(laptop, near)).toMatchObject({
      from: 'node:desk',
      act: 'assert',
      ref: json.message.id,
      text: 'Not delivered: nobody has the address "agent:nobody".',
    });
    const { json: ended } = await laptop.ask(`POST /v1/sessions/${near.id}/whistle`, {
      token: near.token,
      body: { to: 'agent:nobody@desk', text: 'b', seconds: 60 },
    });
    expect(ended).toMatchObject({ ok: true, answer: { from: 'node:desk', act: 'answer' } });
  });

  it.runIf(isDeep)('never let two machines wait for each other', async () => {
    const { desk, laptop, far, near } = await twoMachines();
    const whistle = (served: Served, { id, token }: Party, to: string) =>
      served.ask(`POST /v1/sessions/${id}/whistle`, { token, body: { to, text: '?', seconds: 60 } });
    const waiting = whistle(laptop, near, 'agent:builder@desk');
    const got = await first(desk, far);
    const { json } = await whistle(desk, far, `session:${near.id}@laptop`);
    expect(JSON.stringify(json)).toContain('would wait for itself');
    await ring(desk, far, { to: got['from'], text: 'done', act: 'answer', ref: got['id'] });
    expect((await waiting).json).toMatchObject({ answer: { text: 'done' } });
    const both = [whistle(laptop, near, `session:${far.id}@desk`), whistle(desk, far, `session:${near.id}@laptop`)];
    expect(JSON.stringify((await Promise.race(both)).json)).toContain('would wait for itself');
    const answerAll = async (served: Served, party: Party) => {
      for (const { from, id, kind } of await inboxOf(served, party))
        if (kind === 'whistle') await ring(served, party, { to: from, text: 'done', act: 'answer', ref: id });
    };
    let areDone = false;
    const done = Promise.all(both).then(() => (areDone = true));
    for (; !areDone; await sleep(20)) await Promise.all([answerAll(desk, far), answerAll(laptop, near)]);
    await done;
  });

  it.runIf(isDeep).each(FIRST_BYTES)(
    'arrive once, wherever the connection breaks, from byte %i on',
    async (firstByte) => {
      const { desk, laptop, far, near, url, tokenOf, stop } = await twoMachines();
      await stop();
      const wire = await breakingWire(Number(new URL(url).port), {});
      await exchange(laptop, `http://127.0.0.1:${wire.port}`, tokenOf('laptop'));
      const breaks = { up: 0, down: 0 };
      for (const way of ['up', 'down'] as const)
        for (let bytes = firstByte; bytes < LONGEST; bytes += STEP) {
          const text = `${way} ${bytes}`;
          wire.cut({ [way]: bytes });
          await ring(laptop, near, { to: `session:${far.id}@desk`, text });
          await ring(desk, far, { to: `session:${near.id}@laptop`, text });
          const arrived = async (served: Served, party: Party) =>
            (await inboxOf(served, party)).filter((each) => each['text'] === text).length === 1;
          await until(async () => (await arrived(desk, far)) && (await arrived(laptop, near)));
          if (wire.isBroken()) breaks[way]++;
        }
      expect(Math.min(breaks.up, breaks.down)).toBeGreaterThan((LONGEST / STEP) * 0.9 - 1);
      for (const [served, party] of [
        [desk, far],
        [laptop, near],
      ] as const) {
        const texts = (await inboxOf(served, party)).map(({ text }) => text);
        expect(new Set(texts).size).toBe(texts.length);
      }
    },
    300_000,
  );
});

describe('the mail of a node', () => {
  const letter = { id: 'm-1@', kind: 'bell', act: 'assert', from: 'session:s@', author: 'a', text: 'a' } as const;

  it.each([
    ['an address of this machine', { from: 'person:operator' }],
    ['an address of a third machine', { from: 'person:operator@other' }],
    ['an id of this machine', { id: 'm-1' }],
    ['another kind of sender', { from: 'node:desk@' }],
    ['a recipient on a third machine', { to: 'person:joe@other' }],
  ])('cannot use %s', async (_, more) => {
    const { served, url, tokenOf } = await reachable();
    const port = Number(new URL(url).port);
    const mail = { messages: [{ ...letter, to: 'person:operator', ref: null, leftMs: null, ...more }] };
    const answer = await send(port, 'POST /agency/messages', { token: tokenOf('laptop'), body: mail });
    expect(answer.status).toBe(400);
    expect((await served.ask('GET /v1/inbox')).json.messages).toEqual([]);
  });

  it('needs the token of a node with an allowed name', async () => {
    const { served, url, tokenOf } = await reachable();
    const port = Number(new URL(url).port);
    const { token } = await served.session();
    for (const each of [served.operator, served.agent, served.auditor, token, tokenOf('a b'), tokenOf('a@b'), null])
      for (const what of ['GET /agency/messages', 'POST /agency/messages'])
        expect([401, 403]).toContain((await send(port, what, { token: each, body: {} })).status);
  });

  it('changes the state only of messages that were sent to that node', async () => {
    const { desk, far, url, tokenOf } = await twoMachines();
    const { json } = await ring(desk, far, { to: 'person:operator', text: 'a' });
    const body = {
      receipts: [{ message: json.message.id, state: 'read' }],
      refusals: [{ message: json.message.id, text: 'no' }],
    };
    const port = Number(new URL(url).port);
    expect((await send(port, 'POST /agency/messages', { token: tokenOf('laptop'), body })).status).toBe(200);
    expect(await statesOf(desk, json.message.id)).toEqual(['sent']);
    expect(await inboxOf(desk, far)).toEqual([]);
  });

  it('is empty for a machine that nobody wrote to', async () => {
    const { laptop } = await twoMachines();
    const world = new EvidenceOfAllRepositories(laptop.env);
    const mail = new NodeMailExchange(world);
    const { after } = (await mail.collect('third', NO_MAIL_POSITIONS))!;
    expect(await mail.collect('third', after)).toBeNull();
    await world.close();
  });

  it('translates an address into the name that the other machine uses', () => {
    const name = fc.stringMatching(/^[a-z:-]{1,9}$/);
    fc.assert(
      fc.property(name, name, name, (own, here, there) => {
        fc.pre(here !== there);
        expect(readNameFromNode(spellNameForNode(own, there), here)).toBe(`${own}@${here}`);
        expect(readNameFromNode(spellNameForNode(`${own}@${there}`, there), here)).toBe(own);
        expect(readNameFromNode(spellNameForNode(`${own}@third-1`, there), here)).toBe(`${own}@third-1`);
      }),
    );
  });
});
