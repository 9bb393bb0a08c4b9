import type { SpecWarning } from '../../spec/check/spec-problem.ts';
import type { Edge, SpecSet } from '../../spec/types.ts';
import { edgeNeedsOperator } from '../infer/edges-to-review.ts';
import { subAgentStartEdges } from './abstract-session.ts';
import type { StateSpace } from './state-space.ts';

/** Warnings of exits that never open, modes that no session reaches, and peripherals that need the operator. Pure. */
export function findGraphWarnings(specs: SpecSet, space: StateSpace): SpecWarning[] {
  const peripherals = new Set(space.nodes.map(({ state }) => state.peripheral));
  const blocked = new Map(specs.edges.map((edge) => [edge, space.blockedBy(edge)]));
  const dead = specs.edges.flatMap((edge): SpecWarning[] => {
    const why = blocked.get(edge) ?? null;
    if (why === null || !peripherals.has(edge.from) || !peripherals.has(edge.to)) return [];
    const path = `peripherals.${edge.from}.exit.${edge.exit}`;
    const message = `${edge.exit} never opens ${edge.to}: ${why}`;
    return [
      { code: 'dead-exit', path, message, suggestion: `remove ${edge.to} from ${edge.exit}, or change the rule` },
    ];
  });
  const useless = [...peripherals].flatMap((from) =>
    (from === null ? [] : subAgentStartEdges(specs, from)).flatMap((edge): SpecWarning[] => {
      const why = space.blockedBy(edge);
      if (why === null) return [];
      const message = `no sub-agent can ever start in ${edge.to}: ${why}`;
      const path = `peripherals.${edge.from}.delegates`;
      return [{ code: 'useless-delegate', path, message, suggestion: `remove ${edge.to}, or change the rule` }];
    }),
  );
  const open = specs.edges.filter((edge) => blocked.get(edge) === null);
  return [...dead, ...useless, ...lostModes(specs, space), ...operatorOnly(specs, space, open)];
}

function lostModes({ modeGate }: SpecSet, space: StateSpace): SpecWarning[] {
  const reached = new Set<string | null>(space.nodes.map(({ state }) => state.mode));
  return Object.keys(modeGate?.effects ?? {})
    .filter((mode) => !reached.has(mode))
    .map(
      (mode): SpecWarning => ({
        code: 'lost-mode',
        path: `gate.modes.${mode}`,
        message: `no session can reach the mode ${mode}`,
        suggestion: `add a transition to ${mode}, or remove it`,
      }),
    );
}

/** The peripherals that no agent can enter from elsewhere, or leave by a hop, without the operator. */
function operatorOnly(specs: SpecSet, space: StateSpace, open: readonly Edge[]): SpecWarning[] {
  const hops = open.filter(({ from, to }) => from !== to);
  const into = Map.groupBy(hops, ({ to }) => to);
  const out = Map.groupBy(hops, ({ from }) => from);
  const peripherals = new Set(space.nodes.map(({ state }) => state.peripheral));
  const started = startedByAgents(specs, space);
  return Object.keys(specs.peripherals).flatMap((id): SpecWarning[] => {
    if (!peripherals.has(id)) return [];
    const note = (what: string, part: string): SpecWarning => ({
      code: 'operator-only',
      path: `peripherals.${id}.${part}`,
      message: `only the operator can ${what} ${id}`,
      suggestion: null,
    });
    const exits = out.get(id) ?? [];
    return [
      ...(!started.has(id) && (into.get(id) ?? []).every(edgeNeedsOperator) ? [note('enter', 'entry')] : []),
      ...(exits.length > 0 && exits.every(edgeNeedsOperator) ? [note('hop out of', 'exit')] : []),
    ];
  });
}

/** The peripherals that a session can start in, or start again in, without the operator. */
function startedByAgents({ peripherals }: SpecSet, space: StateSpace): ReadonlySet<string | null> {
  const starts = space.nodes.flatMap(({ state }) => {
    const kind = state.begun ? 'session-close' : 'default';
    const moves = state.peripheral === null ? space.moves(state) : [];
    return moves.filter(
      (move) =>
        move.kind === 'start' && peripherals[move.to.peripheral!]!.entry.sources.some((own) => own.kind === kind),
    );
  });
  return new Set(starts.map(({ to }) => to.peripheral));
}
