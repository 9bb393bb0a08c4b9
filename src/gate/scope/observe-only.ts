import { getOwn } from '../../spec/names.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import { COMMAND_TOOLS } from '../../spec/policy/command-tools.ts';
import type { ProjectConfig, ScopeRule, ToolSpec } from '../../spec/types.ts';
import { isToolServed } from '../available-actions.ts';
import type { GateContext, StepRequest } from '../request.ts';

/** True if refusals of this session's calls are only recorded (`enforce: false`). */
export const isObserveOnly = ({ config }: Pick<GateContext, 'config'>): boolean => config.enforce === false;

/**
 * The context in which an observe-only session judges a call that enforcement would refuse: every served tool,
 * everywhere in the root, in any mode, without limits, rules and approvals. Masks, protected names, the form of the
 * arguments and the sandbox still apply. Pure.
 */
export function observeOnlyContext(context: GateContext, { tool: id, args }: StepRequest): GateContext {
  const { specs, config, view } = context;
  const tool = getOwn(specs.tools, id);
  const peripheral = view.visit && getOwn(specs.peripherals, view.visit.peripheral);
  if (!tool || !view.visit || !peripheral) return context;
  const rule = openRule(tool, peripheral.scope.rule);
  const tools = Object.keys(specs.tools).filter((other) => isToolServed(view, other));
  const limits = { steps: null, minutes: null };
  const { gates: _, ...ungated } = tool;
  return {
    ...context,
    specs: {
      ...specs,
      modeGate: null,
      tools: { ...specs.tools, [tool.id]: ungated },
      peripherals: {
        ...specs.peripherals,
        [peripheral.id]: { ...peripheral, tools, limits, calls: {}, scope: { ...peripheral.scope, rule } },
      },
    },
    config: openConfig(config, tool, args),
    view: { ...view, mode: null, visit: { ...view.visit, status: 'active', deadline: null } },
  };
}

/** The widest scope, with the command rule that this tool needs. */
function openRule({ id }: ToolSpec, { command }: ScopeRule): ScopeRule {
  const works = getOwn(COMMAND_TOOLS, id)?.worksIn ?? ['contained'];
  const scope = works.includes(command) ? command : (works[0] ?? 'contained');
  return { read: 'root', write: ['.'], command: scope, url: 'allow-list', resource: ['**'] };
}

/** The configuration without the repository's own scopes and approvals, and with the hosts that the call names. */
function openConfig({ scopes: _, install, ...config }: ProjectConfig, tool: ToolSpec, args: unknown): ProjectConfig {
  return {
    ...config,
    scopes: {},
    ...(install ? { install: install.map((command) => ({ ...command, approval: false })) } : {}),
    web: { allow: [...config.web.allow, ...namedHosts(tool, args)] },
  };
}

/** The hosts of the URLs in a call's arguments. A numeric address is left out, because it may be this machine. */
function namedHosts({ parameters }: ToolSpec, args: unknown): readonly string[] {
  const named: { readonly [name: string]: unknown } = typeof args === 'object' && args !== null ? { ...args } : {};
  return parameters.flatMap(({ name, role }, index) => {
    if (!ARGUMENT_ROLE_FACTS[role].namesHost) return [];
    const texts = [Array.isArray(args) ? args[index] : named[name]].flat();
    return texts.flatMap((text) => {
      const host = typeof text === 'string' ? URL.parse(text)?.hostname : undefined;
      return host && /[a-z]/.test(host) && host.includes('.') ? [host] : [];
    });
  });
}
