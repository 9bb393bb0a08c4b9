import { expect } from 'vitest';
import type { AgentSession } from '../../src/adapters/core/agent-session.ts';
import { agentSession } from '../../src/adapters/core/local-agent-session.ts';
import type { ToolBackend } from '../../src/ports/tool-backend.ts';
import type { ScriptedTurn } from '../contracts/agent-adapter.ts';
import { agentWorld } from '../contracts/agent-world.ts';

export const read: ScriptedTurn = { calls: [{ name: 'read', input: { path: 'README.md' } }] };
export const hop = { name: 'hop', input: { to: 'edit', exit: 'found-target', reason: 'found' } };
export const execute: ScriptedTurn = { calls: [{ name: 'mode', input: { to: 'execute', reason: 'to mend' } }] };
export const end: ScriptedTurn = { say: 'Done.' };

/** The session in a broken world. */
export const broken = (session: AgentSession): AgentSession => ({
  ...session,
  call: () => Promise.reject(new Error('the disk is full')),
});

interface Aborting {
  readonly signal: AbortSignal;
  readonly backends: (real: readonly ToolBackend[]) => readonly ToolBackend[];
  /** The reason of the abort signal that reached the tool. */
  readonly reached: () => unknown;
}

/** A `read` that aborts the run of its caller, and ends only by this abort. */
export function readThatAborts(): Aborting {
  const abort = new AbortController();
  let reached: unknown = null;
  const backend: ToolBackend = {
    name: 'slow',
    tools: ['read'],
    run: ({ signal }) =>
      new Promise((done) => {
        signal.addEventListener('abort', () => {
          reached = signal.reason;
          done({ outcome: { status: 'failed', code: 'aborted', message: 'aborted' }, effects: [] });
        });
        abort.abort('enough');
      }),
  };
  return {
    signal: abort.signal,
    backends: (real: readonly ToolBackend[]) => [backend, ...real],
    reached: () => reached,
  };
}

/** Agents of several sessions play at once; one of them hops, and the others stay where they are. */
export async function playApart(
  play: (session: AgentSession, script: readonly ScriptedTurn[]) => Promise<unknown>,
): Promise<void> {
  const worlds = await Promise.all([agentWorld('explore'), agentWorld('explore'), agentWorld('explore')]);
  const runs = worlds.map(async (world, index) => {
    const session = await world.open();
    await play(agentSession(session), index === 1 ? [{ calls: [hop] }, end] : [read, end]);
    return session.state.peripheral;
  });
  expect(await Promise.all(runs)).toEqual(['explore', 'edit', 'explore']);
  for (const world of worlds) await world.verify();
}
