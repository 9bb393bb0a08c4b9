import { describe, expect, it } from 'vitest';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import type { Session } from '../../../src/session/session.ts';
import { agentWorld, type Start } from '../../contracts/agent-world.ts';
import { call, connected, ERAS, type Era, hostOf } from './client.ts';

async function reader(start: Start = 'explore', era: Era = 'legacy') {
  const world = await agentWorld(start);
  const session: Session = await world.open();
  const reading = {
    spec: async () => session.specs,
    thread: async () => `${(await session.evidence()).length} entries`,
    constraints: async (peripheral: string) => ({ peripheral, may: 'look' }),
    inbox: async () => [],
    message: async () => null,
  };
  const client = await connected(hostOf(agentSession(session), { reading, relistMs: 0 }), { era });
  return { session, client };
}

describe.each(ERAS)('the resources of a session (%s)', (era) => {
  it('are its status, its thread, its spec and the agent’s constraints', async () => {
    const { session, client } = await reader('explore', era);
    const { resources } = await client.listResources();
    const texts: { [uri: string]: string } = {};
    for (const { uri } of resources) {
      const [first] = (await client.readResource({ uri })).contents;
      texts[uri] = first && 'text' in first ? first.text : '';
    }
    expect(Object.keys(texts)).toEqual([
      'hopgate://session',
      'hopgate://session/thread',
      'hopgate://session/spec',
      'hopgate://session/constraints',
      'hopgate://inbox',
    ]);
    expect(JSON.parse(texts['hopgate://session']!)).toMatchObject({
      sessionId: session.id,
      peripheral: 'explore',
      available: { tools: expect.arrayContaining(['read']) },
    });
    expect(JSON.parse(texts['hopgate://session/spec']!)).toMatchObject({ hash: session.specs.hash });
    expect(texts['hopgate://session/thread']).toMatch(/^\d+ entries$/);
    expect(JSON.parse(texts['hopgate://session/constraints']!)).toEqual({ peripheral: 'explore', may: 'look' });
  });

  it('are listed in the error for an unknown resource', async () => {
    const { client } = await reader('explore', era);
    await expect(client.readResource({ uri: 'hopgate://sessions' })).rejects.toThrow(/there are: hopgate:\/\/session,/);
  });
});

it('a subscriber is notified of changes until it unsubscribes', async () => {
  const { client } = await reader();
  const notified: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void notified.push(params.uri));
  await client.subscribeResource({ uri: 'hopgate://session/thread' });
  await call(client, 'read', { path: 'README.md' });
  expect(notified).toEqual(['hopgate://session/thread']);
  await client.unsubscribeResource({ uri: 'hopgate://session/thread' });
  await call(client, 'read', { path: 'README.md' });
  expect(notified).toHaveLength(1);
});

it('a listener of the 2026 protocol is notified only of its own subscriptions', async () => {
  const { client } = await reader('explore', 'auto');
  const notified: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void notified.push(params.uri));
  const listening = await client.listen({ resourceSubscriptions: ['hopgate://session'] });
  await call(client, 'read', { path: 'README.md' });
  expect(notified).toEqual(['hopgate://session']);
  await listening.close();
});

describe('the MCP prompts', () => {
  const promptText = async (client: Awaited<ReturnType<typeof reader>>['client'], name: string, args = {}) => {
    const [message] = (await client.getPrompt({ name, arguments: args })).messages;
    return message?.content.type === 'text' ? message.content.text : '';
  };

  it('are enter, par and where-am-i', async () => {
    const { client } = await reader();
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['enter', 'par', 'where-am-i']);
  });

  it('name the exits that lead into a peripheral', async () => {
    const { client } = await reader();
    const text = await promptText(client, 'enter', { peripheral: 'edit', reason: 'the bug' });
    expect(text).toContain('to: "edit" and the reason (the bug)');
    expect(text).toContain('exit "found-target"');
  });

  it('say that no exit leads there', async () => {
    const { client } = await reader();
    expect(await promptText(client, 'enter', { peripheral: 'deploy' })).toContain('No exit leads there from here');
  });

  it('complete the peripheral’s name, with reachable ones first', async () => {
    const { client } = await reader();
    const complete = async (value: string) =>
      (await client.complete({ ref: { type: 'ref/prompt', name: 'enter' }, argument: { name: 'peripheral', value } }))
        .completion.values;
    expect(await complete('d')).toEqual(['discipline', 'deploy']);
    expect(await complete('')).toEqual(expect.arrayContaining(['chat', 'edit', 'reflect']));
    expect(await complete('nowhere')).toEqual([]);
  });

  it('answer an unknown peripheral with the known ones', async () => {
    const { client } = await reader();
    await expect(promptText(client, 'enter', { peripheral: 'edti' })).rejects.toThrow(
      /there is no peripheral "edti".*edit/,
    );
    await expect(promptText(client, 'enter')).rejects.toThrow(/there is no peripheral/);
    await expect(promptText(client, 'leave')).rejects.toThrow(/there are: enter, par, where-am-i/);
  });

  it('request a review from any peripheral', async () => {
    const { client } = await reader();
    const text = await promptText(client, 'par');
    expect(text).toContain('Hop to "reflect" first.');
    expect(text).toContain('what-went-well (list)');
    await call(client, 'read', { path: 'README.md' });
    await call(client, 'hop', { to: 'reflect', exit: 'hop-reflect', reason: 'look back' });
    expect(await promptText(client, 'par')).not.toContain('first.');
  });

  it('describe the agent’s place', async () => {
    const { client } = await reader('edit');
    expect(await promptText(client, 'where-am-i')).toContain('"edit"');
  });
});

it('the steps of the review prompt produce a review', async () => {
  const { client, session } = await reader();
  await call(client, 'read', { path: 'README.md' });
  await call(client, 'hop', { to: 'reflect', exit: 'hop-reflect', reason: 'look back' });
  const fruit = { 'what-went-well': ['reading'], suggestions: ['read more'] };
  const { isError } = await call(client, 'hop', { to: 'explore', exit: 'par-generated', reason: 'on', fruit });
  expect(isError).toBe(false);
  expect(session.state.fruits['reflect']).toMatchObject({ par: { what_went_well: ['reading'] } });
});
