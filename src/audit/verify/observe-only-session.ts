import { fieldsOf } from '../../base/json.ts';
import { getOwn } from '../../spec/names.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import { COMMAND_TOOLS } from '../../spec/policy/command-tools.ts';
import type { Json, ScopeRule, ToolSpec } from '../../spec/types.ts';
import type { AuditState } from '../rules/audit-state.ts';
import { makeRuleProblem, type RuleProblem } from '../rules/rule-problem.ts';

/** True if the session only observes: refused calls run, and their entries hold the refusal. */
export const isObserveOnlySession = ({ pinned }: AuditState): boolean => pinned.config.enforce === false;

/** The problem of a call that ran although it was refused, in a session that enforces its spec. */
export const REFUSED_BUT_RUN_PROBLEM = makeRuleProblem(
  'tool-not-allowed',
  'pin',
  'enforce: true',
  'the entry records a refusal, but the call was carried out',
);

/** The problem of a call in an observe-only session whose recorded refusal is not the one that the spec requires. */
export const wrongRefusalProblem = (recorded = 'no refusal', due = 'no refusal'): RuleProblem =>
  makeRuleProblem('tool-not-allowed', 'facts', `by the spec the answer is ${due}`, `the entry records ${recorded}`);

/** The state without the limits that a refused call broke; masks, protected names and the form of arguments remain. */
export function auditStateForRefusedCall(state: AuditState, tool: string, args: Json = {}): AuditState {
  const { pinned, visit } = state;
  if (!visit?.spec) return state;
  const { specs, config } = pinned;
  const { gates: _, ...free } = getOwn(specs.tools, tool) ?? {};
  const spec = { ...visit.spec, tools: Object.keys(specs.tools), calls: {}, limits: { steps: null, minutes: null } };
  const install = config.install?.map((one) => ({ ...one, approval: false }));
  return {
    ...state,
    mode: null,
    visit: { ...visit, spec, scope: openScope(tool, visit.scope), deadline: null, expired: false },
    pinned: {
      specs: { ...specs, tools: { ...specs.tools, ...('id' in free ? { [tool]: free } : {}) } },
      config: {
        ...config,
        web: { allow: [...config.web.allow, ...hostsIn(getOwn(specs.tools, tool), args)] },
        ...(install ? { install } : {}),
      },
    },
  };
}

function openScope(tool: string, { command }: ScopeRule): ScopeRule {
  const useful = getOwn(COMMAND_TOOLS, tool)?.worksIn ?? ['contained'];
  return {
    read: 'root',
    write: ['.'],
    command: useful.find((one) => one === command) ?? useful[0]!,
    url: 'allow-list',
    resource: ['**'],
  };
}

/** The hosts that a call's addresses name. IP addresses are left out, so they stay forbidden. */
function hostsIn(tool: ToolSpec | undefined, args: Json): readonly string[] {
  const addresses = (tool?.parameters ?? [])
    .filter(({ role }) => ARGUMENT_ROLE_FACTS[role].namesHost)
    .flatMap(({ name }) => fieldsOf(args)[name]);
  return addresses
    .flatMap((address) => (typeof address === 'string' ? (URL.parse(address)?.hostname ?? []) : []))
    .filter((host) => host.includes('.') && /[a-z]/.test(host));
}
