import { expect, test } from 'vitest';
import { lead, stage } from './sessions.ts';

test('takes the seeds’ JSON form of a hop, and infers the exit where only one opens the target', async () => {
  const { session } = await stage();
  await lead(session, 'test');
  const hop = JSON.parse('{"hop": "reflect", "reason": "natural close point", "summary": "completed feature X"}');
  expect(await session.hop(hop)).toMatchObject({
    ok: false,
    denial: { code: 'exit-not-met', about: { candidates: ['fail', 'flaky', 'hop-reflect', 'pass'] } },
  });
  expect(await session.hop({ hop: 'reflect', exit: 'hop-reflect', reason: 'natural close point' })).toMatchObject({
    ok: true,
  });
});

test('its summary becomes the summary that the peripheral yields', async () => {
  const { session } = await stage();
  await lead(session, 'explore');
  const hop = { hop: 'edit', exit: 'found-target', reason: 'found target file', summary: 'it is in src/a.ts' };
  expect(await session.hop(hop)).toMatchObject({ ok: true, fruit: { summary: 'it is in src/a.ts' } });
});
