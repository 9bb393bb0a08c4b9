import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { trustCurrentConfig } from '../../src/project/trust.ts';
import { INPUTS } from './agency-nodes.ts';
import { ADDRESS, canMakeMachines, counting, joinMachines, machine } from './machines.ts';

/** `HOPGATE_EVERY_BYTE=1` cuts at every byte; the deep run at every 25th, because each cut is a step of a session. */
const STEP = process.env['HOPGATE_EVERY_BYTE'] === '1' ? 1 : 25;

const SPECS = {
  'hopgate.yaml': 'specs: specs\n',
  'notes.md': 'of this machine\n',
  'specs/peripherals/lead.yaml': `id: lead
purpose: Get a view from elsewhere.
tools: [agency-run]
scope: conversation
entry: [default, from-any]
exit: { use-view: apply }
delegates: [{ agency: par-participant }]
limits: { minutes: 600 }
fruit: { response: { observed: string } }
`,
  'specs/peripherals/apply.yaml': `id: apply
purpose: Use the view.
tools: [read]
scope: full-codebase
entry: [from-lead]
exit: { ask-again: lead }
context: { response: { take: from-lead } }
`,
};

/** Machine b has a session in the peripheral `lead`. Agent x runs on machine a, behind a wire that breaks. */
async function machines(work: number | 'held' = 0) {
  joinMachines();
  const [a, b] = [machine('a'), machine('b')];
  a.agents(`x: ${counting(await a.call('agent', work))}\n`);
  await a.serve();
  const tokenFile = b.file('a.token', await a.tokenFor('b'));
  const wire = await b.call('wire', 4781, ADDRESS.a);
  b.agents(`x: { location: remote, url: "http://127.0.0.1:${wire}", token-file: ${tokenFile} }\n`);
  b.files(SPECS);
  await trustCurrentConfig(b.root, b.env);
  await b.serve('');
  const session = await b.open('ann', 'lead');
  const ask = (prompt: string) =>
    session.step('agency-run', { agent: 'x', peripheral: 'par-participant', inputs: INPUTS, prompt, seconds: 600 });
  return { a, b, session, ask };
}

const answered = { ok: true, outcome: 'ok', result: { status: 'answered', response: 'a view' } };

describe.skipIf(!canMakeMachines())('a chain with a run on another machine', () => {
  it('is one session, and the agent runs once, wherever the connection breaks', async () => {
    const { a, b, session, ask } = await machines();
    const breaks = { up: 0, down: 0 };
    for (const way of ['up', 'down'] as const) {
      for (let bytes = 1; ; bytes += STEP) {
        await b.call('cut', { [way]: bytes });
        const key = `${way}-${bytes}`;
        expect(await ask(key), key).toMatchObject(answered);
        expect(await a.call('starts', `\n${key}`), key).toBe(1);
        if (!(await b.call('isBroken'))) break;
        breaks[way]++;
      }
    }
    expect(breaks.up).toBeGreaterThan(300 / STEP);
    expect(breaks.down).toBeGreaterThan(200 / STEP);
    await b.call('cut', {});
    expect(await session.hop('apply', 'use-view')).toMatchObject({ ok: true, context: { response: 'a view' } });
    expect(await session.step('read', { path: 'notes.md' })).toMatchObject({ ok: true, outcome: 'ok' });
    expect(await session.hop('lead', 'ask-again')).toMatchObject({ ok: true });
    expect(await ask('again')).toMatchObject(answered);
    expect(await b.ended('verify', session.id)).toBe(0);
  }, 900_000);

  it('continues after kill -9 of its process, and the repeated call gets the reply of the same run', async () => {
    const { a, b, ask, session } = await machines('held');
    const cut = ask('once');
    while ((await a.call('starts', '\nonce')) === 0) await sleep(20);
    await b.kill();
    expect(await cut).toBe(null);
    await b.serve('');
    await a.call('release');
    expect(await ask('once')).toMatchObject(answered);
    expect(await a.call('starts', '\nonce')).toBe(1);
    expect(await session.hop('apply', 'use-view')).toMatchObject({ ok: true, context: { response: 'a view' } });
    expect(await b.ended('verify', session.id)).toBe(0);
  }, 900_000);
});
