import { styleText } from 'node:util';
import { excerpt } from '../base/text.ts';
import { isObserveOnly } from '../gate/scope/observe-only.ts';
import type { SessionPin } from '../session/pin.ts';
import type { SessionState } from '../session/state/session-state.ts';
import { sessionViewOf } from '../session/state/view-of-state.ts';
import type { Mode } from '../spec/types.ts';

/**
 * The tests' state: `stale` if no tests ran since the last change, `partial` if only a part of them ran, null if no
 * tests ever ran.
 */
type TestStatus = 'passed' | 'failed' | 'stale' | 'partial' | null;

export interface StatusLineData {
  readonly sessionId: string;
  readonly agent: string;
  readonly closed: boolean;
  /** The present peripheral; null outside of any peripheral. */
  readonly peripheral: string | null;
  /** The present mode; null if the spec set has no mode gate. */
  readonly mode: Mode | null;
  readonly tests: TestStatus;
  /** True in an observe-only session: refused calls run all the same, and the refusal is recorded. */
  readonly observeOnly: boolean;
  /** The number of requests in the repository that wait for an answer of the operator. */
  readonly waiting: number;
}

/** The status of a session after its last entry. Pure. `now` and `waiting` are not in the evidence. */
export function statusLineDataOf(
  { specs, config }: SessionPin,
  state: SessionState,
  now: number,
  waiting: number,
): StatusLineData {
  const { sessionId, agent, closed, mode, visit, tests } = sessionViewOf({ specs }, state, now);
  const hasRun = state.facts.runs.length > 0;
  const unproven = tests.count > 0 ? 'partial' : hasRun ? 'stale' : null;
  return {
    sessionId,
    agent,
    closed,
    peripheral: visit?.peripheral ?? null,
    mode,
    tests: tests.passed ? 'passed' : tests.failed > 0 ? 'failed' : unproven,
    observeOnly: isObserveOnly({ config }),
    waiting,
  };
}

const MAX_NAME = 24;

const TEST_COLORS = { passed: 'green', failed: 'red', stale: 'yellow', partial: 'yellow' } as const;

/**
 * One short line about a session, without a line break. null if no session is running.
 *
 * @example formatStatusLine(status, false) // explore · DIAGNOSE · tests stale · 2 waiting
 */
export function formatStatusLine(status: StatusLineData | null, color: boolean): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  if (status === null) return paint('dim', 'no session');
  const { closed, peripheral, mode, tests, observeOnly, waiting } = status;
  if (closed) return paint('dim', 'session closed');
  return [
    paint('cyan', peripheral === null ? 'no peripheral' : excerpt(peripheral, MAX_NAME)),
    ...(mode === null ? [] : [excerpt(mode, MAX_NAME).toUpperCase()]),
    ...(observeOnly ? [paint('yellow', 'observe-only')] : []),
    ...(tests === null ? [] : [paint(TEST_COLORS[tests], `tests ${tests}`)]),
    ...(waiting === 0 ? [] : [paint(['bold', 'magenta'], `${waiting} waiting`)]),
  ].join(' · ');
}
