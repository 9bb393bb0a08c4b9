import { expect, it, vi } from 'vitest';
import type { Actor, AnyStateMachine } from 'xstate';
import { lead, stage } from './sessions.ts';

it('the actors of a session move with it and can be subscribed to', async () => {
  const { session, reopen } = await stage();
  await lead(session, 'explore');
  const actors = await session.actors;
  expect(await session.actors).toBe(actors);
  const states = () => [actors.modeGate, actors.hopGraph, actors.visit].map((actor) => actor?.getSnapshot().value);
  expect(states()).toEqual([session.state.mode, 'explore', 'active']);
  const seen: unknown[] = [];
  actors.hopGraph.subscribe(({ value, tags }) => seen.push([value, tags.has('edit')]));
  expect(actors.visit?.getSnapshot().hasTag('read')).toBe(true);

  await session.hop({ to: 'edit', exit: 'found-target', reason: 'it is there' });
  expect(states()).toEqual([session.state.mode, 'edit', 'active']);
  await session.hop({ to: 'deploy', reason: 'refused' });
  await session.setMode({ to: 'diagnose' });
  await session.stop('enough');
  expect(states()).toEqual([session.state.mode, 'outside', 'stopped']);
  expect(seen).toEqual([
    ['edit', true],
    ['outside', false],
  ]);

  await session.detach();
  const resumed = await reopen();
  const again = await resumed.actors;
  expect([again.hopGraph.getSnapshot().value, again.visit]).toEqual(['outside', null]);
  await resumed.close();
  expect(again.hopGraph.getSnapshot()).toMatchObject({ value: 'closed', status: 'done' });
});

it('an actor that its reader stops does not stop the session', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const { session } = await stage();
  await lead(session, 'explore');
  const { hopGraph } = await session.actors;
  (hopGraph as Actor<AnyStateMachine>).stop();
  expect(await session.hop({ to: 'edit', exit: 'found-target', reason: 'it is there' })).toMatchObject({ ok: true });
  expect(session.state.peripheral).toBe('edit');
});
