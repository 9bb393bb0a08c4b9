import { compileSpecs, type Machine } from '../compile/index.ts';
import { type Body, bodyOf } from '../evidence/bodies.ts';
import type { Entry } from '../evidence/entry.ts';
import type { Inspector } from '../ports/inspector.ts';
import type { Json, SpecSet } from '../spec/types.ts';
import type { SessionState } from './state/state.ts';

/** Notifies an inspector of each entry that moved a session. */
export type Tell = (before: SessionState, after: SessionState, entry: Entry) => void;

/** Announces a session's machines to the inspector: the mode gate, the hop graph and the open visit's machine. */
export function introduce(inspector: Inspector, specs: SpecSet, state: SessionState): Tell {
  const compiled = compileSpecs(specs);
  const { modeGate, hopGraph, lifecycle } = compiled;
  const visit = state.facts.visit && lifecycle[state.facts.visit.peripheral];
  if (modeGate && state.mode) inspector.actor(modeGate, { value: state.mode });
  inspector.actor(hopGraph, { value: state.hopGraph });
  if (visit && state.lifecycle) inspector.actor(visit, { value: state.lifecycle });
  return (before, after, entry) => tell(inspector, compiled, before, after, entry);
}

/**
 * Reports to the inspector how one entry moved the machines: the event of each, with its facts, and the state after it.
 * Events do not contain arguments and results of steps.
 */
function tell(
  inspector: Inspector,
  compiled: ReturnType<typeof compileSpecs>,
  before: SessionState,
  after: SessionState,
  entry: Entry,
): void {
  const body = bodyOf(entry.body);
  if (!body) return;
  const visit = (after.facts.visit ?? before.facts.visit)?.peripheral;
  const lifecycle = visit === undefined ? null : (compiled.lifecycle[visit] ?? null);
  const send = (machine: Machine | null, value: string | null, type: string, facts?: Json | null): void => {
    if (!machine || value === null) return;
    const event = { type, ...(facts ? { facts } : {}), entry: entry.id };
    inspector.event(machine.id, event);
    inspector.snapshot(machine.id, { value }, event);
  };
  if (body.event === 'start' && lifecycle) inspector.actor(lifecycle, { value: lifecycle.config.initial });
  for (const { of, type, facts } of moves(body, before)) {
    if (of === 'mode') send(compiled.modeGate, after.mode, type, facts);
    else if (of === 'hops') send(compiled.hopGraph, after.hopGraph, type, facts);
    else send(lifecycle, after.lifecycle, type);
  }
}

interface Move {
  readonly of: 'mode' | 'hops' | 'visit';
  readonly type: string;
  readonly facts?: Json | null;
}

/** The machine events of an entry; the same ones that the fold applies. */
function moves(body: Body, { lifecycle }: SessionState): readonly Move[] {
  switch (body.event) {
    case 'mode':
      return [{ of: 'mode', type: body.how === 'transition' ? `to.${body.to}` : body.how, facts: body.facts }];
    case 'hop':
      return [{ of: 'hops', type: `${body.exit}.${body.to}`, facts: body.facts }];
    case 'start': {
      const begun: Move = { of: 'visit', type: 'start' };
      return body.facts === null
        ? [begun]
        : [{ of: 'hops', type: `start.${body.peripheral}`, facts: body.facts }, begun];
    }
    case 'stop':
      return [{ of: 'visit', type: 'stop' }, ...(body.exit === null ? [{ of: 'hops', type: 'stop' } as const] : [])];
    case 'step':
    case 'intent':
      return [
        ...(lifecycle === 'interrupted' ? [{ of: 'visit', type: 'resume' } as const] : []),
        { of: 'visit', type: 'step' },
      ];
    case 'interrupted':
      return lifecycle === 'active' ? [{ of: 'visit', type: 'interrupt' }] : [];
    case 'expired':
      return lifecycle === 'active' ? [{ of: 'visit', type: 'expire' }] : [];
    case 'session-closed':
      return [{ of: 'hops', type: 'close' }];
    default:
      return [];
  }
}
