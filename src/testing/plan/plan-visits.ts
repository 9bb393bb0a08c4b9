import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';
import { recordsIntent } from '../../spec/policy/tool-effects.ts';
import type { Json, PeripheralSpec } from '../../spec/types.ts';
import type { FiniteModel, ModelRoute } from '../model/shortest-routes.ts';
import { envelopeKey } from './envelope-key.ts';
import type { Move } from './move.ts';
import { type PlannedCase, peripheralNameOf } from './planned-case.ts';

/** Maximum number of steps up to which a visit's limit is tested. */
const MAX_STEPS = 500;
const SECOND = 1 / 60;
const CLOSE: Move = { name: 'close', asked: { kind: 'close' } };

interface Visit {
  readonly pinned: AuditedPin;
  readonly spec: PeripheralSpec;
  readonly stop: Move | undefined;
  readonly step: Move;
  /** The first step of a tool that acts, if the peripheral has one. */
  readonly actingStep: Move | undefined;
}

type VisitCase = Pick<PlannedCase, 'name' | 'moves' | 'provoke' | 'both' | 'tries'>;

/**
 * Plans cases for the visits to one peripheral of each envelope: outcomes of steps, limits of steps and time, a clock
 * that is set back, the moves after a stop and a close, and a start with the identity of another session.
 */
export function planVisitCases(
  pinned: AuditedPin,
  model: FiniteModel<AuditState, Move>,
  prefix: readonly Move[],
  states: readonly ModelRoute<AuditState, Move>[],
): PlannedCase[] {
  const planned = new Set<string>();
  return Object.values(pinned.specs.peripherals).flatMap((spec) => {
    const route = states.find(({ states: path }) => peripheralNameOf(path.at(-1)!) === spec.id);
    if (!route) return [];
    const visit = `${route.moves.length === 1 ? 'start' : 'hop'} ${envelopeKey(spec)}`;
    if (planned.has(visit)) return [];
    planned.add(visit);
    const allowed = model.moves(route.states.at(-1)!);
    const stop = allowed.find(({ asked }) => asked.kind === 'stop');
    const step = allowed.find(({ asked }) => asked.kind === 'step');
    const actingStep = allowed.find(
      ({ asked }) => asked.kind === 'step' && recordsIntent(pinned.specs.tools[asked.tool]),
    );
    const cases = [
      ...(stop ? stopCases(stop) : []),
      ...identityCases(route),
      ...(step
        ? [...steps({ pinned, spec, stop, step, actingStep }), ...limits({ pinned, spec, stop, step, actingStep })]
        : []),
    ];
    return cases.map(({ name, moves, ...rest }) => ({
      group: 'visits',
      name: `${spec.id}: ${name}`,
      moves: [...prefix, ...route.moves, ...moves],
      ...rest,
    }));
  });
}

function stopCases(stop: Move): VisitCase[] {
  return [
    { name: 'the possible moves after a stop', moves: [stop], provoke: 'end' },
    { name: 'nothing is possible after stop and close', moves: [stop, CLOSE], provoke: 'end' },
  ];
}

/** Repeats a route after a stop, with context that names another session and author. */
function identityCases({ moves }: ModelRoute<AuditState, Move>): VisitCase[] {
  const start = moves[0]?.asked;
  if (moves.length !== 1 || start?.kind !== 'start') return [];
  const context = { ...start.context, 'session-id': 'session-of-another', author: 'somebody-else' };
  const request: AuditRequest = { ...start, context };
  return [
    {
      name: 'a start with another identity after a stop',
      moves: [],
      tries: [
        { name: 'stop', asked: { kind: 'stop', fruit: {} } },
        { name: 'start with another identity', asked: request },
        { name: 'start with another identity (operator)', asked: { ...request, by: 'operator' } },
      ],
    },
  ];
}

const outcome = (status: ToolReport<Json>['outcome'], effects: ToolReport['effects'] = []): ToolReport<Json> => ({
  outcome: status,
  effects,
});

/** The outcomes of a step other than success. */
function steps({ step, actingStep, stop }: Visit): VisitCase[] {
  const failed = outcome({
    status: 'failed',
    code: 'no-luck',
    message: 'it did not work',
    result: { verdict: 'pass' },
  });
  const refused = outcome({ status: 'refused', code: 'out-of-scope', message: 'not here', remedy: 'Elsewhere.' });
  const end = stop ? [stop] : [];
  return [actingStep, step].flatMap((move): VisitCase[] => {
    if (move?.asked.kind !== 'step' || (move === step && step === actingStep)) return [];
    const { tool } = move.asked;
    const may = (name: string, more: Partial<Move>): VisitCase => ({
      name: `${tool} ${name}`,
      moves: [{ ...move, ...more, name: `${tool} ${name}` }, move],
      tries: end,
    });
    return [
      { name: `${tool} runs twice`, moves: [move, move] },
      { name: `${tool} runs twice at once`, moves: [], both: [move, move] },
      may('fails', { report: failed }),
      may('breaks', { breaks: true }),
      may('is not observed', { report: { ...outcome({ status: 'ok', result: null }), effects: 'unobserved' } }),
      { name: `${tool} refuses`, moves: [], tries: [{ ...move, report: refused }, move, ...end] },
    ];
  });
}

function limits({ pinned, spec, step }: Visit): VisitCase[] {
  const { steps: most, minutes } = spec.limits;
  const { modeGate } = pinned.specs;
  const idle = modeGate?.timeoutMinutes ?? null;
  return [
    ...(most === null || most > MAX_STEPS
      ? []
      : [
          {
            name: `${most} steps are the limit`,
            moves: Array.from({ length: most }, () => step),
            provoke: 'end' as const,
          },
        ]),
    ...(minutes === null
      ? []
      : [
          {
            name: `${minutes} minutes are the limit`,
            moves: [{ ...step, wait: minutes }],
            // Setting the clock back does not extend a limit.
            tries: [{ ...step, wait: -minutes - 1 }],
            provoke: 'end' as const,
          },
          { name: `a step is allowed just before ${minutes} minutes`, moves: [{ ...step, wait: minutes - SECOND }] },
        ]),
    { name: 'steps are allowed after the clock was set back', moves: [step, { ...step, wait: -10 }, step] },
    ...(idle === null
      ? []
      : [
          { name: `after ${idle} idle minutes the mode is reset`, moves: [{ ...step, wait: idle }] },
          { name: `just before ${idle} idle minutes the mode is kept`, moves: [{ ...step, wait: idle - SECOND }] },
        ]),
  ];
}
