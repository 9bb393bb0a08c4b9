import { valueOfLazy } from '../base/lazy.ts';
import { plural } from '../base/text.ts';
import { gatesOfCall } from '../spec/call-gates.ts';
import { effectsOfMode } from '../spec/mode-way.ts';
import { findSimilarName, getOwn } from '../spec/names.ts';
import { peripheralsWithTool } from '../spec/peripherals-with.ts';
import { APPROVAL_FIELD_TITLES } from '../spec/policy/approval-fields.ts';
import { INSTALL_TOOL_ID } from '../spec/policy/command-tools.ts';
import type { Fields, Mode, ProjectConfig, ScopeRule, SpecSet, ToolEffect, ToolGate, ToolSpec } from '../spec/types.ts';
import { checkApproval } from './approvals/check-approval.ts';
import { isToolServed } from './available-actions.ts';
import { bindCallArguments, type CallArguments } from './bind-arguments.ts';
import type { Denial } from './denial.ts';
import { makeDenial } from './make-denial.ts';
import type { Decision, GateContext, StepRequest } from './request.ts';
import { evaluateRule, explainRule } from './requirements/evaluate-rule.ts';
import { collectCelFacts } from './requirements/requirement-facts.ts';
import { isObserveOnly, observeOnlyContext } from './scope/observe-only.ts';
import { scopeProblem } from './scope/scope-problem.ts';
import { isTimeUp } from './session-view.ts';
import { shortestWay } from './ways/shortest-way.ts';
import { modeStepsToGoal } from './ways/way-modes.ts';
import { wayToRunCommand } from './ways/way-to-command.ts';

/** An allowed call, and the scope that its backend must enforce. */
export interface StepPlan {
  readonly tool: ToolSpec;
  readonly args: CallArguments;
  readonly peripheral: string;
  readonly scope: ScopeRule;
  /** The only files that may be read, for `read: session-log`; null for any other scope. */
  readonly readableFiles: readonly string[] | null;
  /** The refusal under enforcement; present only if the session only observes and the call would be refused. */
  readonly overridden?: {
    readonly denial: Denial;
    /** The configuration that the call runs with. */
    readonly config: ProjectConfig;
  };
}

/** A peripheral's scope rule in this repository: the paths that its hopgate.yaml sets replace the paths of the spec. */
export function effectiveScope(specs: SpecSet, config: ProjectConfig, peripheral: string): ScopeRule {
  const spec = getOwn(specs.peripherals, peripheral);
  const stated: ScopeRule = spec?.scope.rule ?? { read: 'none', write: [], command: 'none', url: 'none' };
  const rule: ScopeRule = spec?.agencies ? { ...stated, agency: spec.agencies } : stated;
  const paths = getOwn(config.scopes, peripheral);
  return paths && rule.write.length > 0 ? { ...rule, write: paths } : rule;
}

/**
 * The configuration with the write paths of every peripheral: the paths in hopgate.yaml, else the paths of the spec.
 */
export function configWithWritePaths(specs: SpecSet, config: ProjectConfig): ProjectConfig {
  const scopes = Object.keys(specs.peripherals).flatMap((id) => {
    const { write } = effectiveScope(specs, config, id);
    return write.length > 0 ? [[id, write] as const] : [];
  });
  return { ...config, scopes: { ...config.scopes, ...Object.fromEntries(scopes) } };
}

/**
 * Decides whether a tool call may run now. In this order: session open, in a peripheral, within its limits, tool known,
 * served and in the envelope, effect allowed by the mode, arguments well formed and in scope, approved. In a session
 * that only observes, the plan of a refused call contains the refusal. Pure.
 */
export function decideStep(context: GateContext, request: StepRequest): Decision<StepPlan> {
  if (!isObserveOnly(context)) return judgeStep(context, request);
  const enforced = judgeStep({ ...context, view: { ...context.view, observeOnly: false } }, request);
  if (enforced.ok) return enforced;
  const open = observeOnlyContext(context, request);
  const judged = judgeStep(open, request);
  if (!judged.ok) return judged;
  const config = configWithWritePaths(open.specs, open.config);
  return { ok: true, plan: { ...judged.plan, overridden: { denial: enforced.denial, config } } };
}

function judgeStep(context: GateContext, request: StepRequest): Decision<StepPlan> {
  const { tool: id, args } = request;
  const { specs, config, view } = context;
  if (view.closed) return makeDenial(context, 'session-closed', {});
  const tool = typeof id === 'string' && Object.hasOwn(specs.tools, id) ? specs.tools[id] : undefined;
  const wayToTool = () => (tool ? shortestWay(specs, view, peripheralsWithTool(specs, tool.id), tool.effect) : null);
  if (!view.visit) return makeDenial(context, 'no-peripheral', { tool: String(id) }, wayToTool());
  const { peripheral } = view.visit;
  const spec = specs.peripherals[peripheral];
  if (!spec) throw new Error(`the session is in "${peripheral}", which its spec does not have`);

  const limit = limitReached(context, spec.limits);
  if (!tool) {
    const suggestion = findSimilarName(String(id), Object.keys(specs.tools));
    return makeDenial(context, 'unknown-tool', { tool: String(id), suggestion, ...limit });
  }
  const allows = (mode: Mode, effect: ToolEffect) =>
    specs.modeGate ? effectsOfMode(specs.modeGate, mode).includes(effect) : true;
  const { mode } = view;
  const servedTools = () => spec.tools.filter((other) => isToolServed(view, other));
  if (!spec.tools.includes(tool.id))
    return makeDenial(
      context,
      'tool-not-allowed',
      { tool: tool.id, peripheral, allowed: servedTools(), ...limit },
      wayToTool(),
    );
  if (!isToolServed(view, tool.id)) {
    const upstream = tool.upstream?.server ?? null;
    return makeDenial(context, 'unknown-tool', { tool: tool.id, unserved: true, upstream });
  }
  if (limit) return makeDenial(context, 'limit-reached', { peripheral, tool: tool.id, ...limit });
  if (mode && !allows(mode, tool.effect)) {
    const allowed = servedTools().filter((other) => {
      const effect = specs.tools[other]?.effect;
      return effect && allows(mode, effect);
    });
    const way = modeStepsToGoal(context, (other) => allows(other, tool.effect));
    return makeDenial(context, 'mode-forbids', { tool: tool.id, effect: tool.effect, mode, allowed, ...way });
  }
  const bound = bindCallArguments(tool, args);
  if (!bound.ok) {
    return makeDenial(context, 'invalid-action', {
      tool: tool.id,
      argument: bound.argument,
      why: bound.problem,
      remedy: usage(tool),
    });
  }
  const scope = effectiveScope(specs, config, peripheral);
  const problem = scopeProblem({
    tool,
    args: bound.args,
    scope,
    config,
    root: view.root,
    files: view.files,
    unsafeNoSandbox: context.unsafeNoSandbox,
    message: view.visit.message ?? null,
  });
  if (problem) {
    const argument = bound.args[String(problem.about.argument)];
    const other = wayToRunCommand(specs, view, { tool: tool.id, command: argument, code: problem.code });
    const about = { tool: tool.id, peripheral, ...problem.about, ...(other && { by: other.by }) };
    return makeDenial(context, problem.code, about, other?.way);
  }
  if (mode && !allows(mode, 'act') && startsAgentWithTools(tool, bound.args, scope)) {
    const way = modeStepsToGoal(context, (other) => allows(other, 'act'));
    return makeDenial(context, 'mode-forbids', { tool: tool.id, effect: 'act', mode, allowed: servedTools(), ...way });
  }
  const gates = gatesOfCall(tool, spec);
  const rule = failedRule(context, gates, bound.args);
  if (rule !== null)
    return makeDenial(context, 'condition-failed', {
      tool: tool.id,
      rule: rule.cel,
      why: `the rule ${rule.cel} does not hold${rule.why}`,
      remedy: `${rule.isAboutArguments ? 'Call it with arguments for which the rule holds' : 'Continue until the rule holds'}, or ask the operator.`,
    });
  const toApprove = partsToApprove(context, tool.id, gates, bound.args, request.files);
  const unapproved =
    toApprove && checkApproval(context, { kind: 'step', from: peripheral, to: tool.id }, request, toApprove);
  if (unapproved) return unapproved;
  return {
    ok: true,
    plan: {
      tool,
      args: bound.args,
      peripheral,
      scope,
      readableFiles: scope.read === 'session-log' ? view.files : null,
    },
  };
}

/** True for a call that starts an agent of the agency which may have tools of its own. */
const startsAgentWithTools = ({ parameters }: ToolSpec, args: CallArguments, { agency = [] }: ScopeRule): boolean =>
  agency.some(
    ({ to, within }) => within === 'own' && parameters.some(({ name, role }) => role === 'agency' && args[name] === to),
  );

/** The first CEL rule that does not hold for a call; null if all do. */
function failedRule({ view }: GateContext, gates: readonly ToolGate[], args: CallArguments) {
  const rules = gates.flatMap((gate) => (gate.kind === 'when' ? [gate.cel] : []));
  if (rules.length === 0) return null;
  const facts = collectCelFacts(view, valueOfLazy(view.visit?.observedFruit ?? {}), args);
  const cel = rules.find((rule) => !evaluateRule(rule, facts));
  if (cel === undefined) return null;
  const why = explainRule(cel, facts);
  // If the session lacks a value that the rule reads, other arguments cannot make the rule hold.
  return { cel, why, isAboutArguments: /\bargs\b/.test(cel) && !/\b(fruit|backpack)\./.test(why) };
}

/**
 * The titled parts of a call that a person must approve; null if the call needs no approval.
 * @param files the sha256 of each file that the call names, or of each lock file for an install
 */
function partsToApprove(
  { config }: GateContext,
  id: string,
  gates: readonly ToolGate[],
  args: CallArguments,
  files: StepRequest['files'] = {},
): Fields | null {
  const install = id === INSTALL_TOOL_ID ? installToApprove(config, args, files) : null;
  if (!gates.some(({ kind }) => kind === 'approval')) return install;
  const named: Fields = install || Object.keys(files).length === 0 ? {} : { [APPROVAL_FIELD_TITLES.files]: files };
  return { ...install, [APPROVAL_FIELD_TITLES.args]: { ...args }, ...named };
}

function limitReached(
  { view }: GateContext,
  limits: { readonly steps: number | null; readonly minutes: number | null },
): { limit: string; value: string } | null {
  const { visit } = view;
  if (!visit) return null;
  if (limits.steps !== null && visit.steps >= limits.steps)
    return { limit: 'steps', value: `${plural(limits.steps, 'step')}` };
  return isTimeUp(view) ? { limit: 'minutes', value: `${plural(limits.minutes ?? 0, 'minute')}` } : null;
}

/** The usage of a tool, from its catalogue entry: `read { path, offset?, limit? }`. */
function usage(tool: ToolSpec): string {
  const parameters = tool.parameters.map(({ name, required }) => (required ? name : `${name}?`)).join(', ');
  return `usage: ${tool.id} { ${parameters} }`;
}

/**
 * The parts of an install that a person approves: the commands that may run, with their hosts and whether scripts run,
 * and the lock files. Null if the configuration asks for no approval.
 * @param locks the sha256 of each lock file
 */
function installToApprove({ install = [] }: ProjectConfig, args: CallArguments, locks: Fields): Fields | null {
  if (!install.some(({ approval }) => approval)) return null;
  const commands = install.map(({ run, hosts = [], scripts }) => ({
    run: run.join(' '),
    hosts: `from ${hosts.join(', ') || 'no host'}`,
    scripts: `with scripts of packages ${scripts ? 'on' : 'off'}`,
  }));
  return {
    [APPROVAL_FIELD_TITLES.command]: args['command'] ?? 'the configured one',
    [APPROVAL_FIELD_TITLES.install]: commands,
    [APPROVAL_FIELD_TITLES.locks]: locks,
  };
}
