import { fieldsOf, textOf } from '../../base/json.ts';
import type { EffectRecord, OutcomeRecord, StepBody } from '../../evidence/bodies.ts';
import { getOwn } from '../../spec/names.ts';
import { INSTALL_TOOL_ID } from '../../spec/policy/command-tools.ts';
import type { FileChangeEffectKind, ObservedEffectKind } from '../../spec/policy/effect-ops.ts';
import { CHECK_PASSED_VALUE } from '../../spec/reported-fields.ts';
import type { ToolSpec } from '../../spec/types.ts';
import type { AuditedVisit, AuditState } from '../rules/audit-state.ts';
import { isEndpointAllowed, isHostAllowed } from '../rules/audited-hosts.ts';
import { isFileChange } from '../rules/audited-observations.ts';
import { hasFruitType, shortJson } from '../rules/compare-json.ts';
import {
  describeVisitScope,
  pathReadProblem,
  pathWriteProblem,
  resourceRefusalReason,
} from '../rules/step-problems.ts';
import type { AuditReport } from './audit-report.ts';

/** Checks the observed effects of a step against the scope, independent of the arguments and result of the step. */
export function checkEffects(
  state: AuditState,
  visit: AuditedVisit,
  tool: string,
  effects: readonly EffectRecord[],
  report: AuditReport,
): void {
  const wrong = (constraint: string, message: string, about = {}) =>
    report.violation('effect', constraint, message, { tool, ...about });
  for (const effect of effects) {
    const { op, path } = effect;
    if (isFileChange(effect)) {
      if (getOwn(state.pinned.specs.tools, tool)?.effect !== 'act')
        wrong(`${tool} may only observe`, `the call was observed to ${op} ${path}`);
      const why = pathWriteProblem(state, visit, path);
      if (why) wrong(describeVisitScope(visit, 'path:write'), `${op} of ${path} was observed: ${why.why}`, why.about);
    } else if (op === 'read') {
      const why = pathReadProblem(state, visit, path);
      if (why) wrong(describeVisitScope(visit, 'path:read'), `a read of ${path} was observed: ${why.why}`, why.about);
    } else {
      const [constraint, why] = otherProblem(state, visit, tool, effect);
      if (why) wrong(constraint, `${op} of ${path} was observed: ${why}`);
    }
  }
}

function otherProblem(
  { pinned }: AuditState,
  { scope }: AuditedVisit,
  tool: string,
  { op, path }: EffectRecord,
): readonly [string, string | null] {
  const kind = op as Exclude<ObservedEffectKind, FileChangeEffectKind | 'read'>;
  switch (kind) {
    case 'ref':
      return ['command: deploy', scope.command === 'deploy' ? null : 'the scope lets no command move a git reference'];
    case 'resource':
      return [`resource: ${scope.resource?.join(', ') ?? 'none'}`, resourceRefusalReason(scope, path)?.why ?? null];
    case 'execute':
      return [`command: ${scope.command}`, scope.command === 'none' ? 'the scope grants no commands' : null];
    case 'connect': {
      if (tool === 'bash-deploy' || tool === INSTALL_TOOL_ID) {
        const { deploy, install = [] } = pinned.config;
        const commands = tool === INSTALL_TOOL_ID ? install : Object.values(deploy);
        const hosts = commands.flatMap((command) => command.hosts ?? []);
        return [
          `hosts: ${hosts.join(', ') || 'none'}`,
          isEndpointAllowed(path, hosts) ? null : 'no command lists the host',
        ];
      }
      if (scope.command === 'deploy') return ['command: deploy', null];
      if (scope.url === 'none') return ['url: none', 'the scope grants no network'];
      const { allow } = pinned.config.web;
      return [`hosts: ${allow.join(', ') || 'none'}`, isHostAllowed(path, allow) ? null : 'web.allow lacks the host'];
    }
    default:
      kind satisfies never;
      return ['effects must be of a known kind', 'this kind of effect is unknown'];
  }
}

/** Describes a reported commit or push that no observed effect confirms; null if there is none. */
export function describeUnconfirmedRelease(outcome: OutcomeRecord, effects: readonly EffectRecord[]): string | null {
  if (outcome.status !== 'ok') return null;
  const result = fieldsOf(outcome.result);
  for (const done of ['committed', 'pushed'] as const) {
    if (result[done] !== true) continue;
    const sha = textOf(result['sha']);
    if (!effects.some(({ op, after }) => op === 'ref' && after === sha))
      return `the call reports ${done}, but no reference was observed to move to ${sha}`;
  }
  return null;
}

/** Checks the fields that a backend reported: the tool must declare each field, with its type. */
export function checkReportedFields(
  tool: ToolSpec | undefined,
  { outcome, observed = {}, state = {} }: Reported,
  report: AuditReport,
): void {
  if (!tool) return;
  for (const [kind, declared = {}, fields] of [
    ['observes', tool.observes, observed],
    ['state', tool.state, state],
  ] as const)
    for (const [field, value] of Object.entries(fields)) {
      const type = getOwn(declared, field);
      const about = { tool: tool.id, argument: field };
      const constraint = `${kind} of ${tool.id}: ${Object.keys(declared).join(', ') || 'nothing'}`;
      if (type === undefined) report.violation('effect', constraint, `the tool reported ${field}`, about);
      else if (value !== null && !hasFruitType(value, type))
        report.violation('effect', constraint, `${field} is ${shortJson(value)}, not of its declared type`, about);
      else if (value === CHECK_PASSED_VALUE && outcome.status === 'failed')
        report.violation('effect', 'no check passes in a call that failed', `${field} is ${shortJson(value)}`, about);
    }
}

type Reported = Pick<StepBody, 'outcome' | 'observed' | 'state'>;
