import { mapValues } from '../../base/map-values.ts';
import { effectiveScope } from '../../gate/decide-step.ts';
import { gateRequirement, requirementsOfEdge } from '../../gate/requirements/edge-requirements.ts';
import { describeRequirement } from '../../gate/requirements/requirement.ts';
import { formatEntrySource, getOwn } from '../../spec/names.ts';
import type { Json, ProjectConfig, SpecSet, ToolEffect, ToolParameter } from '../../spec/types.ts';
import { describeLimitsOfTool, describeScope, type ScopeDescription } from './language/format-words.ts';

/** A tool of a peripheral, and its scope there. */
interface ToolConstraint {
  readonly name: string;
  readonly purpose: string;
  readonly effect: ToolEffect;
  readonly arguments: readonly Pick<ToolParameter, 'name' | 'required' | 'role' | 'schema' | 'description'>[];
  /** The limits of its arguments in English, for a prompt. */
  readonly touches: string;
}

/** An exit of a peripheral, with the needs of each destination. */
interface ExitConstraint {
  readonly exit: string;
  /** `observed` if evidence must confirm the exit; `stated` if the agent's statement with a reason is enough. */
  readonly kind: 'observed' | 'stated';
  readonly opens: readonly { readonly to: string; readonly needs: readonly string[] }[];
}

export interface PeripheralConstraints {
  readonly peripheral: string;
  readonly purpose: string;
  readonly tools: readonly ToolConstraint[];
  readonly scope: { readonly name: string } & ScopeDescription;
  readonly forbidden: {
    /** Tools of the spec set that the peripheral lacks. */
    readonly tools: readonly string[];
    /** The rules for all tools of the peripheral, in English for a prompt. */
    readonly rules: readonly string[];
  };
  readonly entries: { readonly sources: readonly string[]; readonly conditions: readonly string[] };
  readonly exits: readonly ExitConstraint[];
  /** The rules for entering each destination, in English. */
  readonly gates: { readonly [peripheral: string]: readonly string[] };
  readonly limits: { readonly steps: number | null; readonly minutes: number | null };
  readonly context: { readonly [field: string]: 'required' | 'optional' };
  readonly fruit: {
    readonly [field: string]: { readonly kind: 'observed' | 'stated'; readonly type: Json; readonly optional: boolean };
  };
  /** Agent ids that may enter; null if any may. */
  readonly agents: readonly string[] | null;
}

/**
 * Describes the constraints of a peripheral for programs and prompts; null if the spec set has no peripheral of this
 * name.
 *
 * @example
 * describeConstraints(specs, config, 'edit')?.scope.writes; // 'only src/, docs/, scripts/'
 */
export function describeConstraints(specs: SpecSet, config: ProjectConfig, id: string): PeripheralConstraints | null {
  const spec = getOwn(specs.peripherals, id);
  if (!spec) return null;
  const rule = effectiveScope(specs, config, id);
  const reach = describeScope(rule, config);
  const edges = specs.edges.filter(({ from }) => from === id);
  return {
    peripheral: id,
    purpose: spec.purpose,
    tools: spec.tools.flatMap((name) => {
      const tool = getOwn(specs.tools, name);
      if (!tool) return [];
      const { purpose, effect, parameters } = tool;
      const args = parameters.map(({ name, required, role, schema, description }) => ({
        name,
        required,
        role,
        schema,
        description,
      }));
      return [{ name, purpose, effect, arguments: args, touches: describeLimitsOfTool(tool, reach) }];
    }),
    scope: { name: spec.scope.name, ...reach },
    forbidden: {
      tools: Object.keys(specs.tools).filter((tool) => !spec.tools.includes(tool)),
      rules: rulesOf(reach, config),
    },
    entries: { sources: spec.entry.sources.map(formatEntrySource), conditions: spec.entry.conditions },
    exits: spec.exits.map(({ name, implies }) => ({
      exit: name,
      kind: implies ? ('observed' as const) : ('stated' as const),
      opens: edges
        .filter(({ exit }) => exit === name)
        .map((edge) => ({
          to: edge.to,
          needs: requirementsOfEdge(specs, edge)
            .filter(({ kind }) => kind !== 'source')
            .map(describeRequirement),
        })),
    })),
    gates: mapValues(spec.gates, (gates) => gates.map((gate) => describeRequirement(gateRequirement(gate)))),
    limits: spec.limits,
    context: mapValues(spec.context, ({ optional }) => (optional ? 'optional' : 'required')),
    fruit: mapValues(spec.fruit, ({ kind, type, ...rest }) => ({
      kind,
      type: (typeof type === 'string' ? type : [...type]) as Json,
      optional: 'optional' in rest && rest.optional,
    })),
    agents: spec.agents,
  };
}

/** The rules that apply to every tool of the peripheral. */
function rulesOf({ reads, writes, commands, urls }: ScopeDescription, { mask }: ProjectConfig): readonly string[] {
  return [
    'nothing outside of the repository is read or written',
    ...(reads === 'no files'
      ? ['no file is read']
      : mask.length > 0
        ? ['masked files are neither read nor written']
        : []),
    writes === 'nothing'
      ? 'nothing is written'
      : "git's own files, and the files that configure editors, agents or hopgate, are never written",
    ...(commands === 'none' ? ['no command runs'] : []),
    ...(urls === 'none' ? ['nothing is fetched'] : []),
  ];
}
