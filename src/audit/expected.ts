import { MODES } from '../spec/types.ts';
import { type Asked, type Expected, LAWFUL, refused } from './asked.ts';
import { expectedStep } from './expected-step.ts';
import { expectedHop, expectedStart, expectedStop } from './expected-visit.ts';
import type { Pinned } from './ledger.ts';
import type { Standing } from './standing.ts';

export type { Asked, Expected } from './asked.ts';
export { contextFor, fruitNow } from './expected-visit.ts';

/**
 * What a session has to answer to a request where it stands: a second judgement, from the spec's meaning and the evidence alone. Nothing of the
 * gate is used, so that a comparison with what the gate answers proves something. Pure.
 *
 * @param now epoch milliseconds
 * @example expected(pinned, standing, { kind: 'stop' }, now) // { ok: false, code: 'no-peripheral', … } outside of any
 */
export function expected(pinned: Pinned, standing: Standing, asked: Asked, now: number): Expected {
  if (standing.closed) return refused('session-closed', 'the session is closed');
  switch (asked.kind) {
    case 'start':
      return expectedStart(pinned, standing, asked);
    case 'step':
      return expectedStep(pinned, standing, asked, now);
    case 'hop':
      return expectedHop(pinned, standing, asked);
    case 'stop':
      return expectedStop(pinned, standing, asked.fruit ?? {});
    case 'mode':
      return expectedMode(pinned, standing, asked);
    case 'close':
      return standing.visit ? refused('already-active', 'a visit ends before its session') : LAWFUL;
    default:
      return asked satisfies never;
  }
}

function expectedMode({ specs }: Pinned, { mode }: Standing, asked: Extract<Asked, { kind: 'mode' }>): Expected {
  const { gate } = specs;
  const { to, by } = asked;
  if (!gate || mode === null) return refused('mode-not-allowed', 'a mode gate');
  const no = (rule: string) => refused('mode-not-allowed', rule);
  if (!MODES.some((known) => known === to)) return no('a mode');
  if (asked.reset || by === 'clock') {
    if (to !== gate.reset) return no(`reset: ${gate.reset}`);
    if (asked.reset && by === 'agent') return no('reset: by the operator');
    return mode === to ? no('another mode') : LAWFUL;
  }
  if (mode === to) return no('another mode');
  const transition = gate.transitions.find((one) => one.from === mode && one.to === to);
  if (!transition) return no('a transition of the gate');
  if (transition.summary && (asked.summary ?? '').trim() === '') return refused('summary-required', 'a summary');
  return transition.approval && !asked.approves ? refused('approval-required', 'mode: approval') : LAWFUL;
}
