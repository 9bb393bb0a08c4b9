import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { computeObservedFruit } from '../../audit/rules/audited-observations.ts';
import { isSameJson } from '../../audit/rules/compare-json.ts';
import type { SessionStatus } from '../../session/session-status.ts';
import type { Fields, Json } from '../../spec/types.ts';

/** A value or answer that the spec demands, and the different one that the session gave. */
export interface StateDifference {
  readonly expected: string;
  readonly actual: string;
}

/**
 * Cache of compared objects: an object of the evidence's state, and the equal object of the status. Few requests change
 * these objects.
 */
const equalObjects = new WeakMap<object, object>();

function isEqual(expected: Json | undefined, actual: Json | undefined): boolean {
  const records = typeof expected === 'object' && typeof actual === 'object' && expected && actual;
  if (records && equalObjects.get(expected) === actual) return true;
  if (!isSameJson(expected, actual)) return false;
  if (records) equalObjects.set(expected, actual);
  return true;
}

/** Describes the difference between a session's status and its evidence; null if there is none. */
export function compareStatusWithState(
  { specs }: AuditedPin,
  state: AuditState,
  status: SessionStatus,
): StateDifference | null {
  const { visit, backpack } = state;
  const spec = visit && specs.peripherals[visit.peripheral];
  const expected: Fields = {
    sessionId: state.sessionId,
    agent: state.agent,
    mode: state.mode,
    peripheral: visit?.peripheral ?? null,
    expired: visit?.expired ?? false,
    closed: state.closed,
    steps: state.steps,
    denials: state.denials,
    visits: state.visits,
    backpack: backpack as Json,
    fruits: state.fruits as Json,
    here:
      visit && spec
        ? { steps: visit.steps, deadline: visit.deadline, observed: computeObservedFruit(spec, visit.observations) }
        : null,
    // The session's identity, which no context and no fruit changes.
    who: { 'session-id': state.sessionId, author: state.agent },
  };
  const actual: Fields = {
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
  const name = Object.keys(expected).find((fact) => !isEqual(expected[fact], actual[fact]));
  if (name === undefined) return null;
  return { expected: `${name}: ${JSON.stringify(expected[name])}`, actual: `${name}: ${JSON.stringify(actual[name])}` };
}
