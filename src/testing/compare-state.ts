import { observedNow, type Standing } from '../audit/standing.ts';
import type { Pinned } from '../audit/ledger.ts';
import { sameJson } from '../audit/json.ts';
import type { SessionStatus } from '../session/session.ts';
import type { Json } from '../spec/types.ts';

type Facts = { readonly [name: string]: Json };

/** What a session says of itself, where it is not what its evidence tells; null: it is. */
export function compareState(
  { specs }: Pinned,
  standing: Standing,
  status: SessionStatus,
): { readonly due: string; readonly said: string } | null {
  const { visit, backpack } = standing;
  const spec = visit && specs.peripherals[visit.peripheral];
  const due: Facts = {
    sessionId: standing.sessionId,
    agent: standing.agent,
    mode: standing.mode,
    peripheral: visit?.peripheral ?? null,
    expired: visit?.expired ?? false,
    closed: standing.closed,
    steps: standing.steps,
    denials: standing.denials,
    visits: standing.visits,
    backpack: backpack as Json,
    fruits: standing.fruits as Json,
    here:
      visit && spec ? { steps: visit.steps, deadline: visit.deadline, observed: observedNow(standing, spec) } : null,
    // Whatever is handed to a visit, a session stays itself.
    who: { 'session-id': standing.sessionId, author: standing.agent },
  };
  const said: Facts = {
    sessionId: status.sessionId,
    agent: status.agent,
    mode: status.mode,
    peripheral: status.peripheral,
    expired: status.visit === 'expired',
    closed: status.closed,
    steps: status.steps,
    denials: status.denials,
    visits: status.visits,
    backpack: status.backpack as Json,
    fruits: status.fruits as Json,
    here: status.here as Json,
    who: { 'session-id': status.backpack['session-id'] ?? null, author: status.backpack['author'] ?? null },
  };
  const name = Object.keys(due).find((fact) => !sameJson(due[fact], said[fact]));
  if (name === undefined) return null;
  return { due: `${name}: ${JSON.stringify(due[name])}`, said: `${name}: ${JSON.stringify(said[name])}` };
}
