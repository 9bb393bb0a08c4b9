import { describe, expect, it } from 'vitest';
import { sessionsWithGrants } from '../operator/support.ts';
import { serveWorld } from './serve-world.ts';

describe('a session over HTTP', () => {
  it('refuses a client without a token before it examines the request', async () => {
    const { ask } = await serveWorld();
    expect((await ask('GET /v1/approvals/no-such', { token: null })).status).toBe(401);
    expect((await ask('GET /v1/approvals/no-such')).status).toBe(400);
    expect((await ask('GET /v1/openapi.json')).json.paths['/v1/openapi.json'].get.responses[200].content).toEqual({
      'application/json': { schema: { type: 'object' } },
    });
  });

  it('is opened, works, is refused with a remedy, and is closed', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const post = (what: string, body: object) => served.ask(`POST /v1/sessions/${id}/${what}`, { token, body });
    expect((await post('mode', { to: 'diagnose' })).json).toMatchObject({ ok: true, mode: 'diagnose' });
    const read = await post('step', { tool: 'read', args: { path: 'src/a.ts' } });
    expect(read.json).toMatchObject({ ok: true, outcome: 'ok', result: { text: 'one\n' } });

    const refused = await post('step', { tool: 'edit', args: { path: 'src/a.ts', find: 'one', replace: 'two' } });
    expect(refused.status).toBe(200);
    expect(refused.json).toMatchObject({ ok: false, denial: { code: 'tool-not-allowed', way: [{ to: 'edit' }] } });
    expect(refused.json.evidence).toHaveLength(1);

    const why = await post('why', { tool: 'edit', args: {} });
    expect(why.json).toMatchObject({ allowed: false, denial: { code: 'tool-not-allowed' } });
    const status = await served.ask(`GET /v1/sessions/${id}`, { token });
    expect(status.json).toMatchObject({ peripheral: 'explore', mode: 'diagnose', steps: 1, denials: 1 });
    const open = await served.ask(`GET /v1/sessions/${id}/available`, { token });
    expect(open.json.tools).toContain('read');

    expect((await post('close', {})).json).toMatchObject({ ok: false });
    expect((await post('stop', { reason: 'enough' })).json).toMatchObject({ ok: true });
    expect((await post('close', { reason: 'enough' })).json).toMatchObject({ ok: true, openSelections: [] });
    const { json } = await served.ask('GET /v1/sessions?open=false');
    expect(json.sessions).toMatchObject([{ session: id, root: served.root, agent: 'builder', closed: true }]);
  });

  it('names the method and address, or the body field, of a request for something that does not exist', async () => {
    const { ask } = await serveWorld();
    const { error } = (await ask('DELETE /v1/sessions')).json;
    expect(error).toMatchObject({ code: 'not-found', message: 'the server has no DELETE /v1/sessions' });
    const { json } = await ask('POST /v1/sessions', { body: { root: '/no/such/folder', agent: 'a' } });
    expect(json.error).toMatchObject({ code: 'no-root', remedy: 'Pass the folder of the repository as `root`.' });
  });

  it('takes the absolute path of a repository, also with a slash at its end', async () => {
    const served = await serveWorld();
    const { id } = await served.session();
    const { json } = await served.ask(`GET /v1/sessions?root=${encodeURIComponent(`${served.root}/`)}`);
    expect(json.sessions).toMatchObject([{ session: id }]);
    for (const answer of [
      await served.ask('POST /v1/sessions', { body: { root: '.', agent: 'a' } }),
      await served.ask('POST /v1/send', { body: { root: '.', payload: 'Hello' } }),
      await served.ask('GET /v1/sessions?root=.'),
    ])
      expect(answer.json.error.message).toMatch(/root: must be an absolute path$/);
  });

  it('refuses a context without the peripheral that gets it, and opens no session', async () => {
    const served = await serveWorld();
    const body = { root: served.root, agent: 'a', context: { notes: 'x' } };
    const { status, json } = await served.ask('POST /v1/sessions', { body });
    expect({ status, path: json.error.path }).toEqual({ status: 400, path: 'body.context' });
    expect((await served.ask('GET /v1/sessions')).json.sessions).toEqual([]);
  });

  it('refuses a search from an invalid time', async () => {
    const { ask } = await serveWorld();
    for (const at of ['GET /v1/pars', 'GET /v1/evidence'])
      expect((await ask(`${at}?since=yesterday`)).json.error).toMatchObject({ path: 'query.since' });
  });

  it('names the missing condition of a natural close', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const body = { reason: 'enough' };
    const early = await served.ask(`POST /v1/sessions/${id}/reflect`, { token, body });
    expect(early.json).toMatchObject({ ok: false, denial: { code: 'entry-not-met', about: { missing: 'work' } } });
    await served.ask(`POST /v1/sessions/${id}/mode`, { token, body: { to: 'diagnose' } });
    await served.ask(`POST /v1/sessions/${id}/step`, { token, body: { tool: 'read', args: ['src/a.ts'] } });
    const review = { 'what-went-well': ['it was short'] };
    const done = await served.ask(`POST /v1/sessions/${id}/reflect`, { token, body: { ...body, review } });
    expect(done.json).toMatchObject({ ok: true, to: 'reflect' });
    expect(done.json.fruit.par.what_went_well).toContain('it was short');
  });

  it('hides no other session if one of its entries cannot be read', async () => {
    const served = await serveWorld();
    const { ids } = await sessionsWithGrants(served, (db, first) =>
      db.prepare("UPDATE entries SET body = '{' WHERE session_id = ? AND seq = 0").run(first),
    );
    const { json: listed } = await served.ask('GET /v1/sessions');
    expect(listed.sessions).toMatchObject([
      { session: ids[1], root: served.root },
      { session: ids[0], root: null },
    ]);
    const { json: found } = await served.ask('GET /v1/evidence');
    expect(found.unreadable).toBe(1);
    expect(found.entries.at(-1)).toMatchObject({ sessionId: ids[0], seq: 1 });
    expect((await served.ask('GET /v1/pars')).json.unreadable).toEqual([ids[0]]);
    const { json: threads } = await served.ask('GET /v1/threads');
    expect(threads).toMatchObject({ threads: [{ session: ids[1] }], unreadable: [ids[0]] });
    expect((await served.ask('GET /v1/inbox?as=operator')).status).toBe(200);
  });

  it('is read while another process writes it', async () => {
    const served = await serveWorld();
    const { openSession } = await import('../../src/open-session.ts');
    const other = await openSession({ root: served.root, agent: 'elsewhere' });
    await other.start('explore');
    const read = await served.ask(`GET /v1/sessions/${other.id}`, { token: served.auditor });
    expect(read.json).toMatchObject({ agent: 'elsewhere', peripheral: 'explore' });
    expect((await served.ask('GET /v1/sessions')).json.sessions).toMatchObject([{ session: other.id, inUse: true }]);
    await other.setMode({ to: 'diagnose' });
    expect((await served.ask(`GET /v1/sessions/${other.id}`)).json).toMatchObject({ mode: 'diagnose' });
    await other.detach();
  });
});

describe('evidence over HTTP', () => {
  it('comes in pages, by session in order and over all newest first', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    await served.session();
    const pages: number[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const { json } = await served.ask(`GET /v1/sessions/${id}/evidence?from=${from}&limit=1`, { token });
      pages.push(...json.entries.map(({ seq }: { seq: number }) => seq));
      from = json.next;
    }
    expect(pages).toEqual([0, 1]);
    const ids: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const { json } = await served.ask(`GET /v1/evidence?limit=3${after ? `&after=${after}` : ''}`);
      ids.push(...json.entries.map((entry: { id: string }) => entry.id));
      after = json.next;
    }
    expect(new Set(ids).size).toBe(4);
    expect(ids).toHaveLength(4);
  });
});

describe('the frames of a session', () => {
  it('come in pages from any seq, with the state before them, and agree with the snapshot', async () => {
    const served = await serveWorld();
    const { id } = await served.session();
    await served.ask(`POST /v1/sessions/${id}/mode`, { body: { to: 'diagnose', by: 'agent' } });
    const whole = (await served.ask(`GET /v1/sessions/${id}/frames`)).json;
    expect(whole.frames.map(({ event }: { event: string }) => event)).toEqual(['session-open', 'start', 'mode']);
    const { applyViewDelta } = await import('../../src/view/view-state.ts');
    const { json: snapshot } = await served.ask(`GET /v1/sessions/${id}/snapshot`);
    for (const from of [0, 1, 2]) {
      const { json } = await served.ask(`GET /v1/sessions/${id}/frames?from=${from}`);
      const state = json.frames.reduce(
        (before: never, { delta }: { delta: never }) => applyViewDelta(before, delta),
        json.before,
      );
      expect(state).toEqual(snapshot.state);
    }
    expect(snapshot).toMatchObject({ seq: 2, state: { peripheral: 'explore', mode: 'diagnose' } });
    expect(snapshot.graph.nodes.map((node: { id: string }) => node.id)).toContain('deploy');
  });
});
