import { applyToAuditState } from '../../audit/rules/apply-to-audit-state.ts';
import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import { type AuditedPin, type AuditState, copyAuditState } from '../../audit/rules/audit-state.ts';
import { isReflectingPeripheral } from '../../audit/rules/audited-observations.ts';
import { computeEntryContext, removeSessionStateFields } from '../../audit/rules/entry-problems.ts';
import { findFirstRuleProblem } from '../../audit/rules/find-rule-problems.ts';
import { computeVisitFruit } from '../../audit/rules/visit-problems.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import type { Fields } from '../../base/json.ts';
import type { Body } from '../../evidence/bodies.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';
import { recordsIntent } from '../../spec/policy/tool-effects.ts';
import type { Json, SpecSet } from '../../spec/types.ts';
import { joinCelRules } from '../model/cel-rules-text.ts';
import { DEFAULT_TOOL_REPORT, type Move } from './move.ts';

/** Predicts the state after a move, without the visits and fruits that no rule reads: copying them is slow. */
export function predictStateAfterMove(
  pinned: AuditedPin,
  state: AuditState,
  { asked, report, refused }: Move,
): AuditState {
  const next = copyAuditState(state);
  if (refused) applyBody(next, REFUSAL);
  else takeMove(pinned, next, asked, report ?? DEFAULT_TOOL_REPORT);
  const { visits, fruits } = readBy(pinned.specs);
  const [last] = Object.keys(next.visits).slice(-1);
  if (!visits && last !== undefined) next.visits = { [last]: 1 };
  next.fruits = Object.fromEntries(Object.entries(next.fruits).filter(([id]) => fruits.has(id)));
  return next;
}

const known = new WeakMap<SpecSet, { readonly visits: boolean; readonly fruits: ReadonlySet<string> }>();

/** The parts of a session's past that rules read: the counted visits, and the fruits by their peripherals. */
function readBy(specs: SpecSet) {
  return getOrInsert(known, specs, () => ({
    visits: /\bvisits\b/.test(joinCelRules(specs)),
    fruits: new Set(
      Object.values(specs.peripherals).flatMap(({ context }) =>
        Object.values(context).flatMap(({ source }) => (source.kind === 'fruit' ? [source.peripheral] : [])),
      ),
    ),
  }));
}

const REFUSAL: Body = { event: 'denial', request: {}, code: 'unknown-tool', message: '', remedy: '', about: {} };

/** Applies an entry with this body to the state, at the time of the last entry. */
function applyBody(state: AuditState, body: Body): void {
  const head = { sessionId: state.sessionId || 'planned', peripheral: null, tags: [] };
  applyToAuditState(state, head, body, state.lastAt);
}

function takeMove(pinned: AuditedPin, state: AuditState, request: AuditRequest, report: ToolReport<Json>): void {
  const enter = (peripheral: string, fields: Fields = {}): void => {
    const { context } = computeEntryContext(
      pinned.specs.peripherals[peripheral]!,
      state,
      removeSessionStateFields(pinned, fields),
    );
    applyBody(state, { event: 'start', peripheral, by: 'agent', context, deadline: null, facts: null });
  };
  const leave = (stated: Fields = {}): void => {
    const spec = state.visit?.spec;
    if (!spec) return;
    if (isReflectingPeripheral(spec)) applyBody(state, { event: 'par', par: {} });
    const fruit = computeVisitFruit(state, stated);
    applyBody(state, { event: 'stop', peripheral: spec.id, reason: 'because', by: 'agent', fruit, exit: null });
  };
  switch (request.kind) {
    case 'start':
      enter(request.peripheral, request.context);
      return;
    case 'hop':
      leave(request.fruit);
      enter(request.to);
      return;
    case 'stop':
      leave(request.fruit);
      return;
    case 'step': {
      const { outcome, effects, observed = {}, state: visitState = {} } = report;
      const result = { tool: request.tool, outcome, effects, observed, state: visitState };
      const acting = recordsIntent(pinned.specs.tools[request.tool]);
      applyBody(state, acting ? { event: 'outcome', ...result } : { event: 'step', args: {}, ...result });
      return;
    }
    case 'mode':
      applyBody(state, {
        event: 'mode',
        from: state.mode!,
        to: request.to,
        how: 'transition',
        by: request.by,
        summary: null,
        reason: null,
        exitCriteria: null,
        approval: null,
        facts: {},
      });
      return;
    case 'delegate':
      applyBody(state, {
        event: 'delegation',
        from: state.visit?.peripheral ?? '',
        to: request.to,
        within: 'parent',
        session: request.agency ? null : 'planned',
        ...(request.agency ? { agency: { run: 'planned', ...request.agency } } : {}),
        context: {},
        reason: request.reason,
        by: request.by,
        approval: null,
      });
      return;
    case 'close':
      applyBody(state, { event: 'session-closed', reason: 'done', by: 'agent' });
      return;
    default:
      request satisfies never;
  }
}

/** True if the spec allows a move in a state. */
export const isMoveAllowed = (state: AuditState, { asked }: Move): boolean =>
  findFirstRuleProblem(state, asked) === null;
