import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ok } from '../tools/shell/support.ts';
import { serveWorld } from './serve-world.ts';

const ATTACKER = readFileSync(join(import.meta.dirname, 'sandboxed-attacker.mjs'), 'utf8');

/** The statuses by which the server refuses; 0: the connection or the file gave nothing. */
const REFUSED = [0, 400, 401, 403, 404, 421];

describe('a sandboxed command that shares the network of the machine', () => {
  it('approves nothing and reads nothing in any of its attacks', async () => {
    const served = await serveWorld({ 'attacker.mjs': ATTACKER });
    const [mine, other] = [await served.session(), await served.session()];
    const move = (what: string, body: unknown) =>
      served.ask(`POST /v1/sessions/${other.id}/${what}`, { token: other.token, body });
    await move('mode', { to: 'diagnose', reason: 'a secret of another session' });
    await move('mode', { to: 'execute', reason: 'a secret of another session' });
    const [waiting] = (await served.ask('GET /v1/approvals')).json.approvals;
    const login = await served.ask('POST /v1/login', { token: null, body: { code: served.http.issueCode() } });
    const arms = {
      port: served.port,
      session: mine.id,
      other: other.id,
      approval: waiting.id,
      hash: waiting.hash,
      agent: served.agent,
      own: mine.token,
      cookie: String(login.headers['set-cookie']).split(';')[0],
      state: served.env['XDG_STATE_HOME'],
    };
    const attack = { run: ['node', 'attacker.mjs', JSON.stringify(arms)], network: true };
    const { result } = await ok(served.root, 'bash-deploy', { name: 'attack' }, { config: { deploy: { attack } } });
    const got = JSON.parse(result.stdout) as { readonly [name: string]: { status: number; text: string } };
    const names = Object.keys(got);
    expect(names.length).toBeGreaterThanOrEqual(45);
    const through = names.filter((name) => !REFUSED.includes(got[name]!.status));
    expect(through.map((name) => `${name}: ${JSON.stringify(got[name])}`)).toEqual([]);
    for (const secret of [served.operator, served.auditor, 'a secret of', waiting.hash])
      expect(result.stdout, 'an answer').not.toContain(secret);
    // The attacks reached the server: its own session is open to it.
    expect(got['no token']!.status).toBe(401);
    expect(got["a session's own token"]!.status).toBe(403);
    const [still] = (await served.ask('GET /v1/approvals')).json.approvals;
    expect(still).toMatchObject({ id: waiting.id, answer: null });
    expect((await served.ask(`GET /v1/sessions/${other.id}`)).json).toMatchObject({ mode: 'diagnose', closed: false });
    expect((await served.ask('GET /v1/inbox')).json.messages).toEqual([]);
  });
});
