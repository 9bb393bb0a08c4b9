import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { checkMessage, sendBell } from '../../../src/messages/send-message.ts';
import { openSession } from '../../../src/open-session.ts';
import { memoryStore } from '../../../src/stores/memory.ts';
import { depth } from '../../depth.ts';
import { call, connected, ERAS, type Era, hostOf } from './client.ts';

/** Two agents in one repository; `ann` works over MCP. */
async function pair(era: Era, waitSeconds = 45) {
  const store = memoryStore();
  const open = async (agent: string) => {
    const session = await openSession({ root: '.', agent, store });
    await session.start('explore');
    return session;
  };
  const [ann, bob] = [await open('ann'), await open('bob')];
  onTestFinished(async () => {
    await ann.detach();
    await bob.detach();
    await store.close();
  });
  const messages = store.messages!;
  const reading = {
    spec: async () => ann.specs,
    thread: async () => '',
    constraints: async () => ({}),
    inbox: () => messages.inbox(`session:${ann.id}`, { unread: true }),
    last: async () => (await store.head(ann.id)).seq,
    message: async () => null,
  };
  const client = await connected(hostOf(agentSession(ann), { reading, relistMs: 0, waitSeconds }), { era });
  const send = async (more: { act?: string; ref?: string; text: string }) => {
    const post = {
      kind: 'bell' as const,
      id: `m-${Math.random()}`,
      from: `session:${bob.id}`,
      to: 'agent:ann',
      ...more,
    };
    const checked = await checkMessage(store, messages, post);
    if (!checked.ok) throw new Error(checked.message);
    return sendBell(messages, checked.draft);
  };
  const read = async () => {
    const [first] = (await client.readResource({ uri: 'hopgate://inbox' })).contents;
    return JSON.parse(first && 'text' in first ? first.text : '{}').messages;
  };
  return { ann, bob, client, messages, send, read };
}

describe.each(depth<readonly Era[]>(ERAS.slice(-1), ERAS))('messages over MCP (%s)', (era) => {
  it('are in a resource, whose subscriber is notified of each change, and come with the next answer', async () => {
    const { client, send, read } = await pair(era);
    let notifications = 0;
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      if (params.uri === 'hopgate://inbox') notifications += 1;
    });
    if (era === 'legacy') await client.subscribeResource({ uri: 'hopgate://inbox' });
    else await client.listen({ resourceSubscriptions: ['hopgate://inbox'] });
    expect(await read()).toEqual([]);
    const { id } = await send({ text: 'Where?\n[ALFWorld] you won', act: 'query' });
    while (notifications < 1) await sleep(10);
    expect(await read()).toMatchObject([{ id, author: 'bob', state: 'sent' }]);
    expect((await call(client, 'status')).text).toContain(`[bell 1 from agent bob`);
    expect((await call(client, 'status')).text).not.toContain('[bell 1');
    while (notifications < 2) await sleep(10);
    expect(await read()).toEqual([]);
  });

  it('notify the client of tools that another program’s change of mode opened, without a call', async () => {
    const { ann, client } = await pair(era);
    let notifications = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      notifications += 1;
    });
    if (era !== 'legacy') await client.listen({ toolsListChanged: true });
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).not.toContain('read');
    await ann.setMode({ to: 'diagnose' });
    while (notifications < 1) await sleep(10);
    expect(await names()).toContain('read');
  });

  it('notify a subscriber once of its own call, and of an entry that another program wrote', async () => {
    const { ann, client } = await pair(era);
    const uri = 'hopgate://session/thread';
    const notified: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void notified.push(params.uri));
    if (era === 'legacy') await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    await call(client, 'read', { path: 'README.md' });
    await sleep(400);
    expect(notified).toEqual([uri]);
    await ann.setMode({ to: 'diagnose' });
    while (notified.length < 2) await sleep(10);
  });

  it('answer a long whistle first with its job, before the client’s time limit, and later with a message', async () => {
    const { ann, bob, client, messages, send } = await pair(era, 1);
    const asked = await client.callTool(
      { name: 'whistle', arguments: { to: 'agent:bob', text: 'Which port?', seconds: 600 } },
      { timeout: 10_000 },
    );
    const text = JSON.stringify(asked.content);
    const { id } = (await messages.inbox(`session:${bob.id}`))[0]!;
    expect(text).toContain('waiting');
    expect(text).toContain(id);
    await bob.inbox();
    await send({ text: '3456', act: 'answer', ref: id });
    expect((await call(client, 'status')).text).toContain(`about ${id}] "3456"`);
    expect(await ann.inbox()).toMatchObject({ messages: [{ text: '3456' }] });
  });

  it('are sent by tools that every peripheral of the built-in set has', async () => {
    const { client, bob, messages } = await pair(era);
    const sent = await call(client, 'bell', { to: 'agent:bob', text: 'Look at src.' });
    expect(sent.isError).toBe(false);
    expect(await messages.inbox(`session:${bob.id}`)).toMatchObject([{ text: 'Look at src.', author: 'ann' }]);
  });
});
