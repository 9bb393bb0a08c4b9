import { fieldsOf } from '../../base/json.ts';
import type { IntentBody, OutcomeBody, StepBody } from '../../evidence/bodies.ts';
import { gatesOfCall } from '../../spec/call-gates.ts';
import { getOwn } from '../../spec/names.ts';
import { APPROVAL_FIELD_TITLES } from '../../spec/policy/approval-fields.ts';
import { takesCommandArgument } from '../../spec/policy/argument-roles.ts';
import { INSTALL_TOOL_ID } from '../../spec/policy/command-tools.ts';
import { recordsIntent } from '../../spec/policy/tool-effects.ts';
import { trustedReportKind } from '../rules/audited-observations.ts';
import { NEEDS_HISTORY } from '../rules/rule-problem.ts';
import { testCommandsProblem } from '../rules/test-runs.ts';
import { checkEffects, checkReportedFields, describeUnconfirmedRelease } from './check-effects.ts';
import type { CheckContext } from './check-visits.ts';
import { auditStateForRefusedCall, isObserveOnlySession } from './observe-only-session.ts';

/** Checks a tool call: an acting tool must have an intent, and another tool must not. */
export function checkToolCall(body: StepBody | IntentBody, context: CheckContext): void {
  const { state, report } = context;
  const { event, tool: id } = body;
  const [wrong, about] = [report.reporterOf('intent'), { tool: id }];
  const tool = getOwn(state.pinned.specs.tools, id);
  if (event === 'step' && recordsIntent(tool))
    wrong(`${id} must have an intent before it runs`, 'the call has no intent', about);
  if (event === 'intent' && tool !== undefined && !recordsIntent(tool))
    wrong(`${id} has the effect ${tool.effect}`, 'the call was recorded as an intent', about);
  if (event === 'step') checkResult(context, body);
}

/** Compares the approval of a call with its arguments; for an install, with its command, hosts and scripts. */
export function checkCallApproval({ tool, args, approval }: IntentBody, { state, approvals, at }: CheckContext): void {
  if (approval === undefined) {
    approvals.drop();
    return;
  }
  const { visit, pinned } = state;
  const { install = [] } = pinned.config;
  const known = getOwn(pinned.specs.tools, tool);
  const gates = known ? gatesOfCall(known, visit?.spec) : [];
  const isInstall = tool === INSTALL_TOOL_ID && install.some((one) => one.approval);
  approvals.use(approval, at, {
    action: { kind: 'step', from: visit?.peripheral ?? '', to: tool },
    reason: '',
    view: {
      ...(gates.some(({ kind }) => kind === 'approval') ? { [APPROVAL_FIELD_TITLES.args]: args } : {}),
      ...(isInstall
        ? {
            [APPROVAL_FIELD_TITLES.command]: args['command'] ?? 'the configured one',
            [APPROVAL_FIELD_TITLES.install]: install.map(({ run, hosts = [], scripts }) => ({
              run: run.join(' '),
              hosts: `from ${hosts.join(', ') || 'no host'}`,
              scripts: `with scripts of packages ${scripts ? 'on' : 'off'}`,
            })),
          }
        : {}),
    },
  });
}

/** Checks an outcome: it must belong to the intent before it. */
export function checkCallOutcome(body: OutcomeBody, context: CheckContext): void {
  const { state, report } = context;
  const { pending } = state;
  const { tool } = body;
  if (!pending)
    report.violation('intent', 'an intent must come before its outcome', 'the outcome has no intent', { tool });
  else report.compare('intent', 'the tool of the outcome', pending.tool, tool, { tool, ...NEEDS_HISTORY });
  checkResult(context, body);
}

function checkResult({ state, report, shipping }: CheckContext, body: StepBody | OutcomeBody): void {
  const { tool: id, outcome } = body;
  const effects = body.effects === 'unobserved' ? [] : body.effects;
  const { tools } = state.pinned.specs;
  const claimed = describeUnconfirmedRelease(outcome, effects);
  if (body.effects === 'unobserved') report.gap('unobserved', `the effects of ${id} were not observed`, id);
  else if (state.unsafeNoSandbox && takesCommandArgument(getOwn(tools, id)))
    report.gap('unobserved', `${id} ran without a sandbox`, id);
  if (claimed && body.effects !== 'unobserved') report.gap('unconfirmed', claimed, id);
  const judged = isObserveOnlySession(state)
    ? auditStateForRefusedCall(state, id, body.event === 'step' ? body.args : {})
    : state;
  if (judged.visit) checkEffects(judged, judged.visit, id, effects, report);
  checkReportedFields(getOwn(tools, id), body, report);
  if (outcome.status !== 'ok' || !state.visit) return;
  if (trustedReportKind(state.visit.scope, state.pinned.specs, id) === 'test') {
    const args = body.event === 'step' ? body.args : (state.pending?.args ?? {});
    const wrong = testCommandsProblem(args, fieldsOf(outcome.result), state.pinned.config);
    const test = `test: ${state.pinned.config.test.map(({ run }) => run.join(' ')).join(' | ')}`;
    if (wrong) report.violation('condition', test, wrong, { tool: id });
  }
  if (state.visit.scope.command === 'deploy') shipping.checkShipped(id, fieldsOf(outcome.result), state.pinned);
}
