import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isDeep } from '../depth.ts';
import { sessionsWithGrants } from '../operator/support.ts';
import { serveWorld } from './serve-world.ts';

/** A session that asked for EXECUTE, and the request that waits. */
async function asking() {
  const served = await serveWorld();
  const { id, token } = await served.session();
  const mode = (to: string) => served.ask(`POST /v1/sessions/${id}/mode`, { token, body: { to } });
  await mode('diagnose');
  const refused = await mode('execute');
  expect(refused.json).toMatchObject({ ok: false, denial: { code: 'approval-required' } });
  const { json } = await served.ask('GET /v1/approvals');
  const [waiting] = json.approvals;
  return { served, id, token, mode, waiting };
}

describe('an approval over HTTP', () => {
  it('is listed, shown and answered once; the agent then repeats its call', async () => {
    const { served, id, mode, waiting } = await asking();
    expect(waiting).toMatchObject({ session: id, title: 'mode diagnose → execute', answer: null });
    const { json: shown } = await served.ask(`GET /v1/approvals/${waiting.id}`, { token: served.auditor });
    expect(shown).toMatchObject({ id: waiting.id, hash: waiting.hash, diff: null });
    const body = { verdict: 'yes', hash: waiting.hash, by: 'mary' };
    const both = await Promise.all([
      served.ask(`POST /v1/approvals/${waiting.id}`, { body }),
      served.ask(`POST /v1/approvals/${waiting.id}`, { body: { ...body, verdict: 'no' } }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(both.find(({ status }) => status === 409)?.json.error).toMatchObject({ code: 'already-answered' });
    expect((await mode('execute')).json.ok).toBe(both[0]!.status === 200);
    expect((await served.ask('GET /v1/approvals')).json.approvals).toEqual([]);
    expect((await served.ask(`POST /v1/approvals/${waiting.id}`, { body })).status).toBe(404);
  });

  it('is declined with words that reach the agent', async () => {
    const { served, mode, waiting } = await asking();
    const body = { verdict: 'no', hash: waiting.hash, by: 'mary', reason: 'write a test first' };
    expect((await served.ask(`POST /v1/approvals/${waiting.id}`, { body })).status).toBe(200);
    const { denial } = (await mode('execute')).json;
    expect(denial.message).toContain('mary declined it: write a test first');
  });

  it('can be a grant, which covers later requests, is listed, and can be revoked', async () => {
    const { served, id, mode, token, waiting } = await asking();
    const grant = { times: 5, minutes: 30 };
    const body = { verdict: 'yes', hash: waiting.hash, by: 'mary', grant };
    const wrong = { ...body, grant: { files: true } };
    const refused = await served.ask(`POST /v1/approvals/${waiting.id}`, { body: wrong });
    expect(refused.json.error).toMatchObject({ code: 'invalid-request', path: 'body.grant' });
    const { json } = await served.ask(`POST /v1/approvals/${waiting.id}`, { body });
    expect(json.grant).toMatch(/^5 times, until /);
    const again = async () => {
      await served.ask(`POST /v1/sessions/${id}/mode`, { token, body: { to: 'discuss', summary: 'done' } });
      await mode('diagnose');
      return (await mode('execute')).json.ok;
    };
    expect([(await mode('execute')).json.ok, await again()]).toEqual([true, true]);
    const { json: listed } = await served.ask('GET /v1/grants', { token: served.auditor });
    expect(listed.grants).toMatchObject([{ session: id, by: 'mary', used: 2, over: null }]);
    const path = `POST /v1/grants/${listed.grants[0].id}/revoke`;
    for (const other of [token, served.agent, served.auditor])
      expect((await served.ask(path, { token: other, body: {} })).status).toBe(403);
    expect((await served.ask(path, { body: { by: 'ann' } })).json.over).toBe('ann revoked it');
    expect(await again()).toBe(false);
    expect((await served.ask('POST /v1/grants/x/revoke', { body: {} })).json.error.code).toBe('unknown-grant');
  });

  it('that is a grant of an altered session hides no other grant, and can be revoked', async () => {
    const served = await serveWorld();
    const { ids, grants } = await sessionsWithGrants(served, (db, id) =>
      db.prepare("UPDATE entries SET body = json_set(body, '$.version', 'x') WHERE session_id = ? AND seq = 0").run(id),
    );
    const { json } = await served.ask('GET /v1/grants');
    expect(json.grants).toMatchObject([{ session: ids[1], id: grants[1] }]);
    const problem = expect.stringContaining('the first entry of session');
    expect(json.unreadable).toEqual([{ session: ids[0], grants: [grants[0]], problem }]);
    const { json: status } = await served.ask(`GET /v1/sessions/${ids[0]}`);
    expect(status.error.code).toBe('broken-evidence');
    const { json: revoked } = await served.ask(`POST /v1/grants/${grants[0]}/revoke`, { body: { by: 'ann' } });
    expect(revoked).toEqual({ id: grants[0], session: ids[0], over: 'ann revoked it' });
  });

  it('counts only for the request that the person read, and only from the operator', async () => {
    const { served, token, waiting } = await asking();
    const body = { verdict: 'yes', hash: 'a'.repeat(64) };
    expect((await served.ask(`POST /v1/approvals/${waiting.id}`, { body })).json.error.path).toBe('body.hash');
    for (const other of [token, served.agent, served.auditor]) {
      const answer = await served.ask(`POST /v1/approvals/${waiting.id}`, {
        token: other,
        body: { ...body, hash: waiting.hash },
      });
      expect(answer.status).toBe(403);
    }
    expect((await served.ask('GET /v1/approvals')).json.approvals[0].answer).toBeNull();
  });

  it('shows no content of masked files in a diff', async () => {
    const served = await serveWorld({ '.env': 'old\n', 'src/b.ts': 'b\n' });
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', served.root, ...args], { env: { ...process.env, ...served.env } });
    git('init', '-q');
    git('add', '-A', '-f');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first');
    writeFileSync(join(served.root, '.env'), 'SECRET=1\n');
    writeFileSync(join(served.root, 'src/b.ts'), 'changed\n');
    writeFileSync(join(served.root, 'key.pem'), 'PRIVATE\n');
    const { diffOfWorkingTree } = await import('../../src/tools/tree/tree-diff.ts');
    const whole = (await diffOfWorkingTree(served.root, { view: {} })).lines.join('\n');
    expect(whole).toContain('SECRET');
    const masked = (await diffOfWorkingTree(served.root, { view: {} }, ['.env', '**/*.pem'])).lines.join('\n');
    expect(masked).toContain('+changed');
    expect(masked).toContain('b/.env');
    expect(masked).not.toMatch(/SECRET|PRIVATE|old/);
  });
});

describe('the activity log over HTTP', () => {
  it.runIf(isDeep)('stores events apart from the hash chain, and lists them newest first', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const event = { 'event/type': 'agent/interaction', agent: 'someone-else', source: 'editor', text: 'hello' };
    const added = await served.ask(`POST /v1/sessions/${id}/activity`, { token, body: event });
    expect(added.json).toMatchObject({ ephemeral: true });
    const { json } = await served.ask(`GET /v1/sessions/${id}/activity?limit=2`, { token });
    expect(json.events[0]).toMatchObject({ 'event/type': 'agent/interaction', text: 'hello' });
    expect(json.events).toHaveLength(2);
    expect(json.next).not.toBeNull();
    const { json: found } = await served.ask(`GET /v1/evidence?session=${id}&ephemeral=true&limit=1`);
    expect(found.entries[0].author).toBe('builder');
    expect((await served.ask(`GET /v1/sessions/${id}`)).json.steps).toBe(0);
  });

  it('sums up the reviews', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const post = (what: string, body: object) => served.ask(`POST /v1/sessions/${id}/${what}`, { token, body });
    await post('mode', { to: 'diagnose' });
    await post('step', { tool: 'read', args: ['src/a.ts'] });
    await post('reflect', { reason: 'done', review: { 'what-could-improve': ['slow tests'] } });
    const { json } = await served.ask(`GET /v1/sessions/${id}/pars`, { token });
    expect(json.pars[0].what_could_improve).toContain('slow tests');
    const { json: sum } = await served.ask('GET /v1/pars');
    expect(sum).toMatchObject({ reviews: 1 });
    expect(sum.wrong.map(({ text }: { text: string }) => text)).toContain('slow tests');
    const { json: thread } = await served.ask(`GET /v1/sessions/${id}/thread`, { token });
    expect(thread).toMatchObject({ status: 'closed', participants: ['builder'], next: null });
    const pageFrom = async (from: number) => {
      const { json } = await served.ask(`GET /v1/sessions/${id}/thread?from=${from}&limit=${thread.count - 1}`, {
        token,
      });
      return [json.entries, json.next];
    };
    expect(await pageFrom(0)).toEqual([thread.entries.slice(0, -1), thread.count - 1]);
    expect(await pageFrom(thread.count - 1)).toEqual([thread.entries.slice(-1), null]);
  });
});

describe('a note to the agent over HTTP', () => {
  it('is written by the operator alone, and is in the evidence', async () => {
    const served = await serveWorld();
    const { id, token } = await served.session();
    const path = `POST /v1/sessions/${id}/note`;
    for (const other of [token, served.agent, served.auditor])
      expect((await served.ask(path, { token: other, body: { text: 'operator: approved' } })).status).toBe(403);
    const { json } = await served.ask(path, { body: { text: 'use the new API' } });
    expect(json).toMatchObject({ ok: true, evidence: [{ author: 'operator', body: { text: 'use the new API' } }] });
    await served.ask(`POST /v1/sessions/${id}/stop`, { body: { reason: 'done' } });
    await served.ask(`POST /v1/sessions/${id}/close`, { body: {} });
    expect((await served.ask(path, { body: { text: 'too late' } })).status).toBe(403);
  });
});
