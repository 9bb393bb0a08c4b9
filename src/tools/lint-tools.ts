import type { SpecWarning } from '../spec/check/spec-problem.ts';
import { describeSimilarName, getOwn } from '../spec/names.ts';
import { COMMAND_TOOLS } from '../spec/policy/command-tools.ts';
import type { PeripheralSpec, ProjectConfig, ScopeRule, SpecSet, ToolParameter, ToolSpec } from '../spec/types.ts';

/** Warns about tools of a peripheral whose calls are always refused there, or that cannot serve their purpose. Pure. */
export function warnOfUnusableTools(specs: SpecSet): SpecWarning[] {
  return Object.values(specs.peripherals).flatMap((peripheral) =>
    peripheral.tools.flatMap((id, index): SpecWarning[] => {
      const tool = getOwn(specs.tools, id);
      if (!tool) return [];
      const found = modeWarning(tool, specs) ?? scopeWarning(tool, peripheral) ?? commandWarning(tool, peripheral);
      return found ? [{ ...found, path: `peripherals.${peripheral.id}.tools.${index}` }] : [];
    }),
  );
}

type ToolWarning = Omit<SpecWarning, 'path'>;

const MODES_PATH = 'modes.<mode>.effects of gate.yaml';

function modeWarning({ id, effect }: ToolSpec, { modeGate }: SpecSet): ToolWarning | null {
  if (!modeGate || Object.values(modeGate.effects).some((effects) => effects.includes(effect))) return null;
  return {
    code: 'never-in-mode',
    message: `${id} is refused in every mode (mode-forbids): no mode allows the effect ${effect}`,
    suggestion: `add ${effect} to ${MODES_PATH}, or remove ${id} from the peripheral`,
  };
}

/** Warns about a required argument for which the scope allows no value, so that every call is refused. */
function scopeWarning({ id, parameters }: ToolSpec, { scope, agencies }: PeripheralSpec): ToolWarning | null {
  for (const parameter of parameters) {
    const missing = missingRight(parameter, { ...scope.rule, ...(agencies ? { agency: agencies } : {}) });
    if (missing === null) continue;
    return {
      code: 'never-in-scope',
      message: `every call of ${id} is refused here (out-of-scope): the scope ${scope.name} ${missing}, and ${id} needs ${parameter.name}`,
      suggestion: `remove ${id} from the peripheral, or choose a scope that grants it`,
    };
  }
  return null;
}

function missingRight(
  { role, required }: ToolParameter,
  { read, write, command, url, resource, agency }: ScopeRule,
): string | null {
  const missing: { readonly [each in typeof role]: string | false } = {
    text: false,
    'path:read': read === 'none' && 'reads no files',
    'path:write': required && write.length === 0 && 'writes nothing',
    command: required && command === 'none' && 'runs no commands',
    url: required && url === 'none' && 'fetches nothing',
    resource: required && resource === undefined && 'reaches no resources',
    agency: required && agency === undefined && 'delegates to no agency peripheral',
  };
  return missing[role] || null;
}

function commandWarning({ id, upstream }: ToolSpec, { scope }: PeripheralSpec): ToolWarning | null {
  const tool = upstream ? undefined : getOwn(COMMAND_TOOLS, id);
  const { command } = scope.rule;
  if (!tool || tool.worksIn.includes(command)) return null;
  const runs = tool.runsIn.includes(command);
  return {
    code: runs ? 'beside-its-scope' : 'never-in-scope',
    message: runs
      ? `${id} runs here, but ${tool.otherwise}`
      : `every call of ${id} is refused here (out-of-scope): the scope ${scope.name} is not one that ${tool.needs}`,
    suggestion: `grant ${id} where the scope ${tool.needs}`,
  };
}

/** Warns about tools of peripherals that no backend has, or whose MCP server is not configured. Pure. */
export function warnOfUnservedTools(
  { tools, peripherals }: SpecSet,
  { served, upstream = {} }: { readonly served: ReadonlySet<string>; readonly upstream?: ProjectConfig['upstream'] },
): SpecWarning[] {
  return Object.values(tools).flatMap((tool): SpecWarning[] => {
    const { id } = tool;
    const users = Object.values(peripherals).flatMap((peripheral) =>
      peripheral.tools.includes(id) ? peripheral.id : [],
    );
    if (users.length === 0) return [];
    const granted = `${users.slice(0, 3).join(', ')}${users.length > 3 ? ` and ${users.length - 3} more` : ''} grant${users.length === 1 ? 's' : ''} it`;
    if (tool.upstream) {
      const { server } = tool.upstream;
      if (Object.hasOwn(upstream, server)) return [];
      return [
        {
          code: 'unknown-upstream',
          path: `tools.${id}.upstream.server`,
          message: `hopgate.yaml names no upstream "${server}"; ${granted}, and no agent is shown it: every call is refused (unknown-tool)`,
          suggestion: `add ${server} to upstream in hopgate.yaml (${describeSimilarName(server, Object.keys(upstream))})`,
        },
      ];
    }
    if (served.has(id)) return [];
    return [
      {
        code: 'unserved',
        path: `tools.${id}`,
        message: `hopgate has no backend for ${id}; ${granted}, and without a backend of your own every call is refused (unknown-tool)`,
        suggestion: `bind it to an MCP server (upstream), give openSession a backend that has it, or remove it from the peripherals`,
      },
    ];
  });
}
