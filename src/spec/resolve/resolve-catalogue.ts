import { z } from 'zod';
import type { DefinedSpecNames } from '../check/defined-names.ts';
import type { ReportSpecProblem, SpecPath } from '../check/spec-problem.ts';
import { describeSimilarName, getOwn } from '../names.ts';
import { RESERVED_STATE_FIELDS } from '../policy/reserved-fields.ts';
import { makeScopeRule } from '../policy/scope-rule.ts';
import { recordsIntent } from '../policy/tool-effects.ts';
import { CONTROLS } from '../policy/tool-ids.ts';
import type { CallGates } from '../schema/call-gates-schema.ts';
import type { GateFile } from '../schema/gate-file.ts';
import type { PartiallyParsed } from '../schema/parse-partial.ts';
import type { ScopesFile } from '../schema/scopes-file.ts';
import type { ToolsFile } from '../schema/tools-file.ts';
import {
  FRUIT_OBSERVATIONS,
  type FruitType,
  type Json,
  type ModeGateSpec,
  type ScopeRule,
  type ToolGate,
  type ToolParameter,
  type ToolSpec,
  type UpstreamTool,
} from '../types.ts';

type UpstreamPart = NonNullable<ToolsFile['tools'][string]['upstream']>;

/** The tools under the key `everywhere`: every peripheral has them. They only coordinate, so no scope gets wider. */
export function resolveEverywhereTools(
  file: PartiallyParsed<ToolsFile> | undefined,
  { tools, catalogue }: DefinedSpecNames,
  report: ReportSpecProblem,
): string[] {
  return [...new Set(file?.everywhere)].filter((tool, index) => {
    const at = ['everywhere', index];
    if (!tools.has(tool)) report(at, `unknown tool "${tool}"`, describeSimilarName(tool, tools));
    else if (getOwn(catalogue, tool)?.effect === 'coordinate') return true;
    else report(at, `"${tool}" does more than coordinate`, 'list it in the peripherals that need it');
    return false;
  });
}

export function resolveTools(
  file: PartiallyParsed<ToolsFile> | undefined,
  report: ReportSpecProblem,
): { [id: string]: ToolSpec } {
  const tools: { [id: string]: ToolSpec } = {};
  for (const [id, tool] of Object.entries(file?.tools ?? {})) {
    if (tool === undefined) continue;
    const at: SpecPath = ['tools', id];
    if (CONTROLS.some((name) => name === id))
      report(at, `"${id}" is a control that every agent has`, 'choose another name');
    const parameters = (tool.parameters ?? []).map((parameter, index): ToolParameter => {
      const schema = (parameter.schema ?? { type: 'string' }) as { [keyword: string]: Json };
      const problem = schemaProblem(schema);
      if (problem) report([...at, 'parameters', index, 'schema'], `is not a JSON Schema: ${problem}`);
      const { name = '', role = 'text', description = '', optional = false, as } = parameter;
      if (as !== undefined && tool.upstream === undefined)
        report(
          [...at, 'parameters', index, 'as'],
          'names an argument of an upstream tool, but this tool has no upstream',
          'remove it',
        );
      return { name, role, schema, required: !optional, description, ...(as === undefined ? {} : { as }) };
    });
    checkOrder(parameters, [...at, 'parameters'], report);
    if (tool.upstream !== undefined) checkUpstreamNames(parameters, [...at, 'parameters'], report);
    tools[id] = {
      id,
      purpose: tool.purpose ?? '',
      effect: tool.effect ?? 'act',
      parameters,
      limits: { seconds: tool.limits?.seconds ?? 0, outputBytes: tool.limits?.['output-bytes'] ?? 0 },
      ...(tool.upstream === undefined ? {} : { upstream: upstreamOf(tool.upstream) }),
      ...(tool.gates === undefined
        ? {}
        : {
            gates: resolveCallGates(
              tool.gates,
              tool.effect && { effect: tool.effect, parameters },
              [...at, 'gates'],
              report,
            ),
          }),
      ...(tool.observes === undefined ? {} : { observes: observedBy(tool.observes, [...at, 'observes'], report) }),
      ...(tool.state === undefined ? {} : { state: stateOf(tool.state, [...at, 'state'], report) }),
    };
  }
  return tools;
}

type Fields = { readonly [field: string]: FruitType | readonly (string | undefined)[] | undefined };

function observedBy(fields: Fields, at: SpecPath, report: ReportSpecProblem): { [field: string]: FruitType } {
  // A check named "tests" would never pass: the condition "tests-passed" is about the configured test commands.
  for (const field of Object.keys(fields))
    if (['tests', ...FRUIT_OBSERVATIONS].includes(field))
      report([...at, field], `"${field}" is an observation of hopgate's own`, 'choose another name');
  return fields as { [field: string]: FruitType };
}

function stateOf(fields: Fields, at: SpecPath, report: ReportSpecProblem): { [field: string]: FruitType } {
  for (const field of Object.keys(fields))
    if (RESERVED_STATE_FIELDS.includes(field))
      report([...at, field], `"${field}" is a field of hopgate's own`, 'choose another name');
  return fields as { [field: string]: FruitType };
}

/** The requirements of calls. An approval needs a tool with an intent, because the intent records the approval. */
export function resolveCallGates(
  gates: readonly (PartiallyParsed<CallGates[number]> | undefined)[],
  tool: Pick<ToolSpec, 'effect' | 'parameters'> | undefined,
  at: SpecPath,
  report: ReportSpecProblem,
): ToolGate[] {
  return gates.flatMap((gate, index): ToolGate[] => {
    if (gate === undefined) return [];
    if ('when' in gate && gate.when !== undefined) return [{ kind: 'when', cel: gate.when }];
    if (!('approval' in gate)) return [];
    if (tool && !recordsIntent(tool))
      report([...at, index, 'approval'], `a tool to ${tool.effect} needs no approval`, 'set effect: act, or use when');
    return [{ kind: 'approval', by: 'operator' }];
  });
}

const upstreamOf = (authored: PartiallyParsed<UpstreamPart>): UpstreamTool => ({
  server: authored.server ?? '',
  tool: authored.tool ?? '',
  schemaHash: authored['schema-hash'] ?? null,
  folders: authored.folders ?? 'contents',
});

function checkOrder(parameters: readonly ToolParameter[], at: SpecPath, report: ReportSpecProblem): void {
  const names = parameters.map(({ name }) => name);
  let optional: string | null = null;
  parameters.forEach(({ name, required }, index) => {
    if (names.indexOf(name) !== index)
      report([...at, index, 'name'], `"${name}" is listed twice`, 'rename one of them');
    if (required && optional !== null)
      report([...at, index], `"${name}" is required but follows the optional "${optional}"`, 'put optional ones last');
    if (!required) optional ??= name;
  });
}

/** Reports two parameters that set the same argument of the upstream. */
function checkUpstreamNames(parameters: readonly ToolParameter[], at: SpecPath, report: ReportSpecProblem): void {
  const upstreamNames = parameters.map(({ name, as }) => as ?? name);
  upstreamNames.forEach((name, index) => {
    if (upstreamNames.indexOf(name) === index || parameters[index]!.as === undefined) return;
    report([...at, index, 'as'], `the upstream's "${name}" is set by two parameters`, 'keep one of them');
  });
}

function schemaProblem(schema: { [keyword: string]: Json }): string | null {
  try {
    z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

export function resolveScopes(file: PartiallyParsed<ScopesFile> | undefined): { [name: string]: ScopeRule } {
  const scopes: { [name: string]: ScopeRule } = {};
  for (const [name, scope] of Object.entries(file?.scopes ?? {})) {
    if (scope === undefined) continue;
    const { read = 'none', write = [], command = 'none', url = 'none', resource } = scope;
    scopes[name] = makeScopeRule({ read, write, command, url, resource, agency: undefined });
  }
  return scopes;
}

export function resolveModeGate(
  file: PartiallyParsed<GateFile>,
  peripherals: ReadonlySet<string>,
  report: ReportSpecProblem,
): ModeGateSpec {
  const modes = Object.keys(file.modes ?? {});
  if (file.modes !== undefined && modes.length === 0) report(['modes'], 'names no modes', 'add the initial mode');
  const checkMode = (path: SpecPath, mode: string | undefined) => {
    if (mode !== undefined && file.modes !== undefined && modes.length > 0 && !modes.includes(mode))
      report(path, `unknown mode "${mode}"`, describeSimilarName(mode, modes));
  };
  checkMode(['initial'], file.initial);
  checkMode(['reset'], file.reset);
  for (const mode of modes) {
    if (peripherals.has(mode)) report(['modes', mode], `"${mode}" is a peripheral too`, 'choose another name');
    file.modes?.[mode]?.peripherals?.forEach((id, index) => {
      if (peripherals.has(id)) return;
      report(['modes', mode, 'peripherals', index], `unknown peripheral "${id}"`, describeSimilarName(id, peripherals));
    });
  }
  const transitions = (file.transitions ?? []).flatMap((transition, index) => {
    const { from, to, approval = null, summary = false } = transition;
    checkMode(['transitions', index, 'from'], from);
    checkMode(['transitions', index, 'to'], to);
    if (from === undefined || to === undefined) return [];
    if (from === to) report(['transitions', index, 'to'], `leads from ${from} to itself`, 'name another mode');
    const first = file.transitions!.findIndex((other) => other.from === from && other.to === to);
    if (first !== index) report(['transitions', index], `${from} to ${to} is listed twice`, 'keep one of them');
    return [{ from, to, approval, summary }];
  });
  return {
    initial: file.initial ?? '',
    effects: Object.fromEntries(modes.map((mode) => [mode, file.modes?.[mode]?.effects ?? []])),
    peripherals: Object.fromEntries(modes.map((mode) => [mode, file.modes?.[mode]?.peripherals ?? null])),
    transitions,
    reset: file.reset ?? '',
    timeoutMinutes: file['timeout-minutes'] ?? null,
  };
}
