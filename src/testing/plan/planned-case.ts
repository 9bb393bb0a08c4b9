import type { AuditState } from '../../audit/rules/audit-state.ts';
import type { SpecSet } from '../../spec/types.ts';
import type { ModelRoute } from '../model/shortest-routes.ts';
import type { Move } from './move.ts';

/** A route to execute, and the moves to make at its end. */
export interface PlannedCase {
  readonly group: 'hops' | 'round trips' | 'refusals' | 'modes' | 'visits' | 'walks';
  /** The name of the test, which contains its route in words. */
  readonly name: string;
  readonly moves: readonly Move[];
  /** Moves to try at the end of the route. Each must be allowed or refused as the spec says. */
  readonly tries?: readonly Move[];
  /** Moves that only lack an approval. They are tried with approvals for other requests and with an expired one. */
  readonly forges?: readonly Move[];
  /** Two moves to make at the same time at the end of the route. */
  readonly both?: readonly [Move, Move];
  /**
   * Peripherals in which negative cases are tried: every new peripheral of the route (`all`) or its end. `edges` tries
   * only the hops at its end: another case tries the calls in a peripheral with the same envelope.
   */
  readonly provoke?: 'end' | 'edges' | 'all';
}

/** Timeout of a generated test in milliseconds. It is long, so that no test fails on a busy machine. */
export const TEST_TIMEOUT_MS = 120_000;

export const peripheralNameOf = ({ visit }: AuditState): string => visit?.peripheral ?? 'outside';

/** The items that a move covers, by their names in the coverage table. */
export function itemsCoveredByMove(before: AuditState, { asked }: Move): readonly string[] {
  if (asked.kind === 'hop') return [`edge ${peripheralNameOf(before)} ${asked.exit} ${asked.to}`, `state ${asked.to}`];
  if (asked.kind === 'start') return [`start ${asked.peripheral}`, `state ${asked.peripheral}`];
  if (asked.kind === 'mode') return [asked.reset ? `mode ${before.mode} reset` : `mode ${before.mode} ${asked.to}`];
  return [];
}

/** The items that a list of moves covers if all succeed. Moves that are meant to be refused cover nothing. */
export function itemsCoveredByMoves({ modeGate }: SpecSet, moves: readonly Move[]): readonly string[] {
  let at = 'outside';
  let mode = modeGate?.initial;
  return moves.flatMap(({ asked, refused }) => {
    if (refused) return [];
    const [from, before] = [at, mode];
    switch (asked.kind) {
      case 'hop':
        at = asked.to;
        return [`edge ${from} ${asked.exit} ${at}`, `state ${at}`];
      case 'start':
        at = asked.peripheral;
        return [`start ${at}`, `state ${at}`];
      case 'mode':
        mode = asked.to;
        return [`mode ${before} ${asked.reset ? 'reset' : mode}`];
      case 'stop':
        at = 'outside';
        return [];
      default:
        return [];
    }
  });
}

export const describeModelRoute = ({ moves, states }: ModelRoute<AuditState, Move>): string =>
  moves
    .flatMap(({ asked, name }, index) => {
      if (asked.kind === 'hop') return [`─${asked.exit}→ ${asked.to}`];
      if (asked.kind === 'start') return [`start ${asked.peripheral}`];
      return asked.kind === 'mode' && peripheralNameOf(states[index]!) === 'outside' ? [] : [`(${name})`];
    })
    .join(' ');
