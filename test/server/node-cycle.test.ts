import { expect, it } from 'vitest';
import { Tokens } from '../../src/server/access/tokens.ts';
import { EvidenceOfAllRepositories } from '../../src/server/all-evidence.ts';
import { exchangeMailWithNode } from '../../src/server/messages/exchange-mail.ts';
import { NodeMailExchange } from '../../src/server/messages/node-mail.ts';
import { isDeep } from '../depth.ts';
import { type Served, serveWorld, until } from './serve-world.ts';

type Party = Awaited<ReturnType<Served['session']>>;

/** Servers in a ring: each calls the one after it `next` and the one before it `last`. */
async function ringOf(count: number) {
  const machines = await Promise.all(
    Array.from({ length: count }, async () => {
      const served = await serveWorld({}, { agencyListen: { host: '127.0.0.1', port: 0 } });
      return { served, party: await served.session() };
    }),
  );
  const ended = new AbortController();
  for (const [index, { served }] of machines.entries()) {
    const world = new EvidenceOfAllRepositories(served.env);
    const next = machines[(index + 1) % count]!.served;
    const token = new Tokens(next.env).ofNode('last');
    const url = next.http.agencyAddress!;
    const mail = new NodeMailExchange(world);
    const done = exchangeMailWithNode({ node: 'next', url, token: () => token, mail, signal: ended.signal });
    served.later(async () => {
      ended.abort();
      await done;
      await world.close();
    });
  }
  return machines;
}

const inboxOf = async (served: Served, { id, token }: Party) =>
  (await served.ask(`GET /v1/sessions/${id}/inbox`, { token })).json.messages as readonly { readonly id: string }[];
/** Waits until the two machines of each pair know each other. */
const areLinked = async (served: Served, { id, token }: Party): Promise<boolean> => {
  const body = { to: 'person:nobody@no-such-node', text: '?' };
  const { text } = await served.ask(`POST /v1/sessions/${id}/bell`, { token, body });
  return text.includes('agent:<id>@next') && text.includes('agent:<id>@last');
};

it.runIf(isDeep).each([4, 5, 8])('a wait cycle over %i machines and through a person is refused', async (count) => {
  const machines = await ringOf(count);
  for (const { served, party } of machines) await until(() => areLinked(served, party));
  /** Whistles that nobody answers; they end with their servers. */
  const ask = (served: Served, what: string, options: object) => void served.ask(what, options).catch(() => {});
  const [first, second] = [machines[0]!, machines[1]!];
  ask(first.served, `POST /v1/sessions/${first.party.id}/whistle`, {
    token: first.party.token,
    body: { to: 'person:operator@next', text: '?', seconds: 120 },
  });
  await until(async () => (await second.served.ask('GET /v1/inbox')).json.messages.length > 0);
  const body = { to: 'agent:builder@next', text: '?', seconds: 120 };
  ask(second.served, 'POST /v1/whistle', { body });
  for (const { served, party } of machines.slice(2, -1)) {
    await until(async () => (await inboxOf(served, party)).length > 0);
    ask(served, `POST /v1/sessions/${party.id}/whistle`, { token: party.token, body });
  }
  const { served, party } = machines.at(-1)!;
  await until(async () => (await inboxOf(served, party)).length > 0);
  const closing = await served.ask(`POST /v1/sessions/${party.id}/whistle`, { token: party.token, body });
  expect(closing.json.answer).toMatchObject({ from: 'node:next', act: 'answer' });
  const own = `session:${party.id}`;
  expect(closing.json.answer.text).toBe(
    `Not delivered: the whistle would wait for itself: ${own} → session:${first.party.id}@next → another machine → ${own}.`,
  );
});
