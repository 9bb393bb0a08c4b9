import type { AuditState } from '../../audit/rules/state.ts';
import type { Route } from '../model/model.ts';
import type { Move } from './moves.ts';

/** A route that is executed, and what is done at its end. */
export interface PlannedCase {
  readonly group: 'hops' | 'round trips' | 'refusals' | 'modes' | 'visits' | 'walks';
  /** A sentence with the way in it. */
  readonly name: string;
  readonly moves: readonly Move[];
  /** Tried at the end of the route; each is let through or refused as the spec says. */
  readonly tries?: readonly Move[];
  /** Only lack an approval at the end of the route; they are tried with approvals for something else, and with one that is over. */
  readonly forges?: readonly Move[];
  /** Two moves that are made at once at the end of the route. */
  readonly both?: readonly [Move, Move];
  /** Try everything that is not lawful at every new place on the way (`walks`), or at the end. */
  readonly provoke?: 'end' | 'all';
}

export const place = ({ visit }: AuditState): string => visit?.peripheral ?? 'outside';

/** What a move covers, by its name in a coverage table. */
export function coveredBy(before: AuditState, { asked }: Move): readonly string[] {
  switch (asked.kind) {
    case 'hop':
      return [`edge ${place(before)} ${asked.exit} ${asked.to}`, `state ${asked.to}`];
    case 'start':
      return [`start ${asked.peripheral}`, `state ${asked.peripheral}`];
    case 'mode':
      return [asked.reset ? `mode ${before.mode} reset` : `mode ${before.mode} ${asked.to}`];
    default:
      return [];
  }
}

/** A route in a sentence: starts, exits and targets, and what has to happen between. */
export const inWords = ({ moves, states }: Route<AuditState, Move>): string =>
  moves
    .flatMap(({ asked, name }, index) => {
      if (asked.kind === 'hop') return [`─${asked.exit}→ ${asked.to}`];
      if (asked.kind === 'start') return [`start ${asked.peripheral}`];
      return asked.kind === 'mode' && place(states[index]!) === 'outside' ? [] : [`(${name})`];
    })
    .join(' ');
