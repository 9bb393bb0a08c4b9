import { describe, expect, it, vi } from 'vitest';
import { openEvidence } from '../../src/open-evidence.ts';
import { makeWorld } from '../daemon/daemon-fixture.ts';
import { type Served, serveWorld, until } from './serve-world.ts';

const bellOf = async (served: Served, to: string, more: object = {}) =>
  (await served.ask('POST /v1/bell', { body: { to, text: 'Which port?', act: 'query', ...more } })).json;

/** Reads an SSE stream until it has sent `count` messages. */
async function messagesOf(served: Served, path: string, count: number, token = served.operator) {
  const response = await fetch(`http://127.0.0.1:${served.port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const got: { readonly cursor: string; readonly data: { readonly id: string; readonly seq: number } }[] = [];
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue;
      expect(block).toContain('event: dev.hopgate.message.v1\n');
      got.push({ cursor: /^id: (.*)$/m.exec(block)![1]!, data: JSON.parse(data).data });
    }
    if (got.length >= count) break;
  }
  return got;
}

describe('messages over HTTP', () => {
  it('reach a session from a person, are acknowledged once, and have receipts', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const sent = await bellOf(served, `session:${id}`);
    expect(sent).toMatchObject({ kind: 'bell', act: 'query', from: 'person:operator', seq: 1, state: 'sent' });
    const { json: inbox } = await served.ask(`GET /v1/sessions/${id}/inbox?unread=true`, { token });
    expect(inbox).toMatchObject({ more: false, messages: [{ id: sent.id, text: 'Which port?' }] });
    const read = () => served.ask(`POST /v1/sessions/${id}/inbox/read`, { token, body: { messages: [sent.id] } });
    expect((await read()).json).toEqual({ ok: true, unread: [] });
    expect((await read()).json).toEqual({ ok: true, unread: [] });
    const { json } = await served.ask(`GET /v1/messages/${sent.id}`);
    expect(json.receipts.map(({ state }: { state: string }) => state)).toEqual(['sent', 'delivered', 'read']);
    expect((await served.ask(`GET /v1/sessions/${id}/messages/${sent.id}`, { token })).json).toEqual(json);
  });

  it('are sent once for one Idempotency-Key', async () => {
    const served = await serveWorld();
    const { id } = await served.session();
    const send = (key: string) =>
      served.ask('POST /v1/bell', { headers: { 'idempotency-key': key }, body: { to: `session:${id}`, text: 'a' } });
    const [first, second, other] = [await send('1'), await send('1'), await send('2')];
    expect(first.status).toBe(201);
    expect(second.json).toEqual(first.json);
    expect(other.json.seq).toBe(2);
  });

  it('come in pages and live, in the order of the inbox', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    for (let count = 0; count < 5; count += 1) await bellOf(served, `session:${id}`);
    const page = (await served.ask(`GET /v1/sessions/${id}/inbox?after=1&limit=2`, { token })).json;
    expect(page.more).toBe(true);
    expect(page.messages.map(({ seq }: { seq: number }) => seq)).toEqual([2, 3]);
    const live = messagesOf(served, `/v1/sessions/${id}/inbox/events?after=3`, 3, token);
    await bellOf(served, `session:${id}`);
    expect((await live).map(({ cursor }) => cursor)).toEqual(['4', '5', '6']);
  });

  it('reach a person, who reads them in pages and live, acknowledges them and answers them', async () => {
    const served = await serveWorld();
    const { root } = served;
    await served.session();
    for (const text of ['a', 'b', 'c']) await bellOf(served, 'person:operator', { text, as: 'joe', root });
    const { json: first } = await served.ask('GET /v1/inbox?limit=2');
    expect(first).toMatchObject({
      more: true,
      unread: 3,
      messages: [{ text: 'a', author: 'joe', root }, { text: 'b' }],
    });
    const { json: second } = await served.ask(`GET /v1/inbox?after=${first.cursor}`);
    expect(second).toMatchObject({ more: false, messages: [{ text: 'c' }] });
    const live = messagesOf(served, `/v1/inbox/events?after=${second.cursor}`, 1);
    const late = await bellOf(served, 'person:operator', { text: 'd', as: 'joe' });
    expect((await live)[0]!.data.id).toBe(late.id);
    const [{ id }] = first.messages;
    expect((await served.ask(`POST /v1/messages/${id}/read`, { body: {} })).json.state).toBe('read');
    const { json: answer } = await served.ask(`POST /v1/messages/${id}/answer`, { body: { text: 'yes' } });
    expect(answer).toMatchObject({ act: 'answer', ref: id, to: 'person:joe', from: 'person:operator' });
    expect((await served.ask(`GET /v1/messages/${id}`)).json).toMatchObject({
      message: { state: 'answered' },
      answer: { text: 'yes' },
    });
    expect((await served.ask(`POST /v1/messages/${id}/read`, { body: { as: 'joe' } })).status).toBe(404);
    expect((await served.ask('GET /v1/inbox?unread=true')).json.messages).toHaveLength(3);
  });

  it('are counted in every repository, although a page has only messages of the first', async () => {
    const served = await serveWorld();
    for (const [nth, root] of [served.root, makeWorld().root].entries()) {
      const store = openEvidence(root, served.env, 'create');
      const [from, to] = ['person:joe', 'person:operator'];
      for (const count of [1, 2, 3])
        await store.messages!.send({
          id: `m-${nth}-${count}`,
          kind: 'bell',
          act: 'assert',
          text: 'a',
          ref: null,
          from,
          author: 'joe',
          to,
        });
      await store.close();
    }
    await vi.waitFor(async () => {
      const { json } = await served.ask('GET /v1/inbox?limit=1');
      expect(json).toMatchObject({ more: true, unread: 6, messages: [{ text: 'a' }] });
    });
  });

  it('answer a whistle after its deadline with 504 and its job, and the job then shows the late answer', async () => {
    const served = await serveWorld();
    const { root } = served;
    await served.session();
    const to = 'person:operator';
    const { status, json } = await served.ask('POST /v1/whistle', {
      body: { as: 'joe', root, to, text: 'Which port?', seconds: 0 },
    });
    expect(status).toBe(504);
    expect(json).toMatchObject({ ok: false, error: { code: 'no-answer' }, 'status-url': `/v1/messages/${json.job}` });
    const unread = async () => (await served.ask('GET /v1/inbox?unread=true')).json.messages;
    expect(await unread()).toMatchObject([{ id: json.job, waits: false }]);
    await served.ask(`POST /v1/messages/${json.job}/answer`, { body: { text: '3456' } });
    expect((await served.ask(`GET ${json['status-url']}`)).json).toMatchObject({ answer: { text: '3456' } });
    const waiting = served.ask('POST /v1/whistle', { body: { as: 'joe', root, to, text: 'And now?', seconds: 30 } });
    await until(async () => (await unread()).length > 0);
    const [{ id: job, waits }] = await unread();
    expect(waits).toBe(true);
    const blocked = async () => (await served.ask('GET /v1/inbox?unread=true&waiting=true')).json.messages;
    await bellOf(served, to, { as: 'joe', root });
    expect((await blocked()).map(({ id }: { id: string }) => id)).toEqual([job]);
    await served.ask(`POST /v1/messages/${job}/read`, { body: {} });
    expect(await blocked()).toEqual([]);
    await served.ask(`POST /v1/messages/${job}/answer`, { body: { text: 'still' } });
    expect((await waiting).json).toMatchObject({ ok: true, job, answer: { text: 'still', ref: job } });
  });

  it('are refused for an address that nobody has, and for one that several repositories have', async () => {
    const served = await serveWorld();
    await served.session();
    const nobody = await served.ask('POST /v1/bell', { body: { to: 'agent:carl', text: 'a' } });
    expect(nobody).toMatchObject({ status: 400, json: { error: { path: 'body.to' } } });
    expect(nobody.json.error.remedy).toContain('agent:builder');
  });

  it('are sent by an agent only in the name of its session, never as a person', async () => {
    const served = await serveWorld();
    const [one, other] = [await served.session(), await served.session()];
    const { id } = await bellOf(served, `session:${other.id}`);
    const body = { to: 'person:operator', text: 'approved' };
    for (const { status, what, sent = body } of [
      { what: 'POST /v1/bell', status: 403 },
      { what: 'POST /v1/whistle', status: 403 },
      { what: 'GET /v1/inbox', status: 403, sent: undefined },
      { what: `GET /v1/messages/${id}`, status: 403, sent: undefined },
      { what: `POST /v1/messages/${id}/answer`, status: 403 },
      { what: `POST /v1/sessions/${other.id}/bell`, status: 403 },
      { what: `GET /v1/sessions/${other.id}/inbox`, status: 403, sent: undefined },
      { what: `GET /v1/sessions/${one.id}/messages/${id}`, status: 404, sent: undefined },
      { what: `POST /v1/sessions/${one.id}/bell`, status: 400, sent: { ...body, as: 'operator' } },
    ])
      expect((await served.ask(what, { token: one.token, body: sent })).status, what).toBe(status);
    for (const what of [`POST /v1/sessions/${one.id}/bell`, `POST /v1/sessions/${one.id}/inbox/read`])
      expect((await served.ask(what, { body })).status, what).toBe(403);
    expect((await served.ask('POST /v1/bell', { token: served.auditor, body })).status).toBe(403);
    expect((await served.ask('GET /v1/inbox', { token: served.auditor })).status).toBe(200);
  });
});

describe('the social pipeline over HTTP', () => {
  it('opens a session for a message to nobody, and gates an action by the mode of the recipient', async () => {
    const served = await serveWorld();
    const send = async (body: object) =>
      (await served.ask('POST /v1/send', { body: { root: served.root, ...body } })).json;
    const first = await send({ payload: 'Who owns the deploy?' });
    expect(first).toMatchObject({ ok: true, opened: true, talk: 'coordination', mode: 'discuss', seq: 1 });
    const refused = await send({ to: first.to, payload: 'Delete the index.' });
    expect(refused).toMatchObject({ ok: false, stage: 'dispatch', code: 'mode-forbids', to: first.to });
    expect((await served.ask(`GET /v1/messages/${first.message}/outcome`)).json).toEqual(first.outcome);
    expect((await served.ask('GET /v1/messages/m-none/outcome')).status).toBe(404);
  });

  it('sends as an agent only with the tokens of its session, and only where the agent may ring', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const other = await served.session();
    const body = { to: `session:${other.id}`, payload: 'Who owns the deploy?' };
    const at = `POST /v1/sessions/${id}/send`;
    expect((await served.ask(at, { token: other.token, body })).status).toBe(403);
    expect((await served.ask(at, { body })).status).toBe(403);
    expect((await served.ask('POST /v1/send', { token, body: { root: served.root, payload: 'Hi' } })).status).toBe(403);
    expect((await served.ask(at, { token, body })).json).toMatchObject({ ok: true, outcome: { valid: true } });
    expect((await served.ask(`POST /v1/sessions/${id}/stop`, { token, body: { reason: 'done' } })).status).toBe(200);
    expect((await served.ask(at, { token, body })).json).toMatchObject({
      ok: false,
      stage: 'dispatch',
      code: 'sender-refused',
    });
  });
});
