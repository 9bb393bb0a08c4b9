import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { listModesOfGate } from '../../spec/mode-way.ts';
import { getOwn } from '../../spec/names.ts';
import type { PeripheralSpec } from '../../spec/types.ts';
import { doRulesReadDenials } from '../model/cel-rules-text.ts';
import { sampleStartContexts } from '../samples/start-contexts.ts';
import { type StatedFruit, sampleStatedFruit, sampleStatedFruits } from '../samples/stated-fruit.ts';
import type { Move } from './move.ts';
import { stepMoves } from './step-moves.ts';

/** A request that may be refused, as a move. */
export const moveOfRequest = (name: string, request: AuditRequest): Move => ({ name: `? ${name}`, asked: request });

export function movesToTryIn(pinned: AuditedPin, state: AuditState): readonly Move[] {
  if (state.closed) return [];
  const inside = state.visit && getOwn(pinned.specs.peripherals, state.visit.peripheral);
  return [
    ...(inside
      ? [...hops(pinned, inside), ...stepMoves(pinned, state, inside), ...delegations(inside), stop(inside)]
      : starts(pinned)),
    ...modes(pinned, state),
    ...(inside && doRulesReadDenials(pinned.specs) ? [REFUSED] : []),
  ];
}

const REFUSED: Move = { name: 'be refused', asked: { kind: 'step', tool: 'no-such-tool', args: {} }, refused: true };

/**
 * A start for each context that rules can distinguish. If the entry names `user-request`, there is also a start by the
 * operator.
 */
const starts = ({ specs }: AuditedPin): Move[] =>
  sampleStartContexts(specs).flatMap(({ note, fields }) =>
    Object.values(specs.peripherals).flatMap(({ id, entry, context }) => {
      // At a first visit there is no earlier fruit.
      const isFirst = entry.sources.some(({ kind }) => kind === 'default');
      const own = Object.entries(context).filter(([, { source, optional }]) => source.kind === 'fruit' && !optional);
      const all = { ...(isFirst ? Object.fromEntries(own.map(([field]) => [field, 'given'])) : {}), ...fields };
      const withContext = Object.keys(all).length > 0 ? { context: all } : {};
      const request = { kind: 'start' as const, peripheral: id, ...withContext };
      const agent: Move = { name: `start.${id}${note}`, asked: { ...request, by: 'agent' } };
      const operator: Move = { name: `start.${id}${note} (operator)`, asked: { ...request, by: 'operator' } };
      return entry.sources.some(({ kind }) => kind === 'user-request') ? [agent, operator] : [agent];
    }),
  );

/**
 * A hop for each combination of exit, target and fruit that rules can distinguish. If the exit or the target's entry
 * depends on who requests the hop, there is also a hop by the operator.
 */
const hops = ({ specs }: AuditedPin, from: PeripheralSpec): Move[] =>
  from.exits.flatMap(({ name: exit, opens }) =>
    opens.flatMap(({ to }) => {
      const target = getOwn(specs.peripherals, to);
      return target
        ? sampleStatedFruits(specs, from, exit, to).flatMap((stated) => hopsWith(stated, exit, target))
        : [];
    }),
  );

function hopsWith({ note, fruit }: StatedFruit, exit: string, { id: to, entry }: PeripheralSpec): Move[] {
  const request = { kind: 'hop', to, exit, reason: 'because', fruit, approves: true } as const;
  const agent: Move = { name: `${exit}.${to}${note}`, asked: { ...request, by: 'agent' } };
  const operator: Move = { name: `${exit}.${to}${note} (operator)`, asked: { ...request, by: 'operator' } };
  const matters =
    exit === 'user-request' || entry.sources.some(({ kind }) => kind === 'user-request' || kind === 'agent-request');
  return matters ? [agent, operator] : [agent];
}

/** The starts of sub-agents that a peripheral names, by the agent and by the operator. */
const delegations = ({ delegates = [], agencies = [] }: PeripheralSpec): Move[] => [
  ...agencies.flatMap(({ to }) =>
    [true, false].map((acts) => ({
      name: `run.${to}${acts ? ' with tools' : ''}`,
      asked: {
        kind: 'delegate' as const,
        to,
        by: 'agent' as const,
        reason: 'because',
        approves: false,
        agency: { acts },
      },
    })),
  ),
  ...delegates.flatMap(({ to }) =>
    (['agent', 'operator'] as const).map((by) => ({
      name: `delegate.${to}${by === 'operator' ? ' (operator)' : ''}`,
      asked: { kind: 'delegate' as const, to, by, reason: 'because', approves: true },
    })),
  ),
];

const stop = (from: PeripheralSpec): Move => ({
  name: 'stop',
  asked: { kind: 'stop', fruit: sampleStatedFruit(from) },
});

function modes({ specs }: AuditedPin, { mode }: AuditState): Move[] {
  const { modeGate } = specs;
  if (!modeGate || mode === null) return [];
  const to = (name: string): Move => ({
    name: `to.${name}`,
    asked: { kind: 'mode', to: name, by: 'agent', summary: 'the outcome', approves: true },
  });
  const reset: Move = {
    name: 'reset',
    asked: { kind: 'mode', to: modeGate.reset, by: 'operator', reset: true, approves: true },
  };
  return [
    ...listModesOfGate(modeGate)
      .filter((other) => other !== mode)
      .map(to),
    ...(mode === modeGate.reset ? [] : [reset]),
  ];
}
