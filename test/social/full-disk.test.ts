import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { machine } from '../cli/run.ts';
import { isDeep } from '../depth.ts';
import { serveWorld } from '../server/serve-world.ts';

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

/** The state of a repository on a small disk of its own. */
function smallDisk(root: string, env: NodeJS.ProcessEnv) {
  const disk = ensureStateDir(root, env);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0700', 'tmpfs', disk]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', disk]));
  const filler = join(disk, 'filler');
  return {
    fill() {
      for (const size of [1 << 16, 1 << 12])
        for (let nth = 0; ; nth++)
          try {
            writeFileSync(`${filler}-${size}-${nth}`, Buffer.alloc(size));
          } catch {
            break;
          }
    },
    free: () => execFileSync('sh', ['-c', `rm -f '${filler}'*`]),
  };
}

describe.skipIf(!canMount)('a message on a full disk (mounting a small one needs root)', () => {
  it.runIf(isDeep)('ends over HTTP with a failure, and with a receipt once there is space', async () => {
    const { root, env, ask, session } = await serveWorld();
    const disk = smallDisk(root, env);
    const { id, token } = await session();
    const texts = Array.from({ length: 40 }, (_, nth) => ({ nth, text: `Who owns the deploy? ${'x'.repeat(4_000)}` }));
    const operators = ({ nth, text }: (typeof texts)[number]) =>
      ask('POST /v1/send', { body: { root, as: 'ann', id: `m-${nth}`, to: `session:${id}`, payload: text } });
    const agents = ({ nth, text }: (typeof texts)[number]) =>
      ask(`POST /v1/sessions/${id}/send`, { token, body: { id: `a-${nth}`, to: 'person:ann', payload: text } });
    expect((await operators(texts[0]!)).json).toMatchObject({ ok: true });
    disk.fill();
    const full = await Promise.all(texts.map(operators));
    for (const { status, json } of full) {
      expect(status).toBe(200);
      expect(json.ok || json.code).toSatisfy((code) => code === true || code === 'store-failed');
    }
    expect(full.some(({ json }) => json.code === 'store-failed')).toBe(true);
    const fromAgents = await Promise.all(texts.slice(0, 5).map(agents));
    for (const { json } of fromAgents) expect([undefined, 'store-failed']).toContain(json.code);
    const nobody = await ask('POST /v1/send', { body: { root, as: 'ann', id: 'n-1', payload: texts[0]!.text } });
    expect(nobody.json).toMatchObject({ ok: false, code: 'store-failed' });
    disk.free();
    for (const text of texts)
      expect((await operators(text)).json).toMatchObject({ ok: true, message: `m-${text.nth}` });
    const inbox = await ask(`GET /v1/sessions/${id}/inbox?limit=200`);
    expect(inbox.json.messages.map((message: { id: string }) => message.id).sort()).toEqual(
      texts.map(({ nth }) => `m-${nth}`).sort(),
    );
    expect((await agents(texts[0]!)).json).toMatchObject({ message: 'a-0' });
  });

  it('makes hopgate send print a failure, and is sent once there is space', async () => {
    const at = machine({ 'a.txt': 'a\n' });
    const disk = smallDisk(at.root, at.env);
    const first = JSON.parse((await at.run('send', 'Who owns the deploy?', '--id', 'm-0', '--json')).out);
    disk.fill();
    const send = (nth: number) =>
      at.run('send', '--to', first.to, `Hi ${'x'.repeat(4_000)}`, '--id', `m-${nth}`, '--json');
    const failures = [];
    for (let nth = 1; nth < 30; nth++) {
      const ran = await send(nth);
      if (ran.code !== 0) failures.push(ran);
    }
    expect(failures.length).toBeGreaterThan(5);
    for (const { code, out, err } of failures) {
      expect(code).toBe(1);
      expect(JSON.parse(out || err)).toSatisfy(
        (output: { code?: string; error?: { code: string } }) => (output.code ?? output.error?.code) === 'store-failed',
      );
    }
    disk.free();
    for (let nth = 1; nth < 30; nth++) expect(await send(nth)).toMatchObject({ code: 0 });
    expect((await at.run('verify')).code).toBe(0);
  });
});
