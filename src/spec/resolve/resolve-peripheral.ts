import type { DefinedSpecNames } from '../check/defined-names.ts';
import type { ReportSpecProblem } from '../check/spec-problem.ts';
import { describeSimilarName, getOwn, RESERVED_PERIPHERALS } from '../names.ts';
import { makeScopeRule } from '../policy/scope-rule.ts';
import type { PartiallyParsed } from '../schema/parse-partial.ts';
import type { PeripheralFile } from '../schema/peripheral-file.ts';
import type { Delegate, GateRule, Json, PeripheralSpec, Scope, ScopeRule, ToolGate } from '../types.ts';
import { resolveCallGates } from './resolve-catalogue.ts';
import { resolveContext } from './resolve-context.ts';
import { resolveEntryRule } from './resolve-entry.ts';
import { resolveExits } from './resolve-exits.ts';
import { resolveFruit } from './resolve-fruit.ts';

/** Resolves the valid part of one authored peripheral, and reports every unknown name. */
export function resolvePeripheral(
  id: string,
  file: PartiallyParsed<PeripheralFile>,
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): PeripheralSpec {
  if (RESERVED_PERIPHERALS.includes(id)) report(['id'], `"${id}" is reserved`, 'choose another id');
  const fruit = resolveFruit(file.fruit, defined, report);
  let misnamed = 0;
  const entry = resolveEntryRule(file.entry, defined, (...problem) => {
    misnamed += 1;
    report(...problem);
  });
  // An entry with conditions and without a source admits nobody.
  if (misnamed === 0 && entry.sources.length === 0 && entry.conditions.length > 0)
    report(['entry'], 'names only conditions', 'add a source, such as from-any or user-request');
  return {
    id,
    purpose: file.purpose ?? '',
    tools: resolveTools(file.tools ?? [], defined, report),
    scope: resolveScope(file.scope, defined, report),
    entry,
    exits: resolveExits(file.exit, fruit, defined, report),
    context: resolveContext(file.context, defined, report),
    fruit,
    ...(file.calls === undefined ? {} : { calls: resolveCalls(file.calls, file.tools ?? [], defined, report) }),
    gates: resolveGates(file.gates, defined, report),
    ...(file.delegates === undefined ? {} : resolveDelegates(file.delegates, defined, report)),
    limits: { steps: file.limits?.steps ?? null, minutes: file.limits?.minutes ?? null },
    agents: file.agents ?? null,
    config: (file.config ?? {}) as { [key: string]: Json },
    output: (file.output ?? null) as { [key: string]: Json } | null,
  };
}

function resolveTools(tools: readonly string[], defined: DefinedSpecNames, report: ReportSpecProblem): string[] {
  return tools.filter((tool, index) => {
    if (tools.indexOf(tool) !== index) report(['tools', index], `"${tool}" is listed twice`, 'keep one of them');
    else if (!defined.tools.has(tool))
      report(['tools', index], `unknown tool "${tool}"`, describeSimilarName(tool, defined.tools));
    return defined.tools.has(tool);
  });
}

const NOTHING: Scope = { name: 'none', rule: { read: 'none', write: [], command: 'none', url: 'none' } };

function resolveScope(
  scope: PartiallyParsed<PeripheralFile>['scope'],
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): Scope {
  if (scope === undefined) return NOTHING;
  if (typeof scope !== 'string') {
    if (scope.paths === undefined && scope.resource === undefined)
      report(['scope'], 'names neither paths nor resource', 'name one, or a scope of scopes.yaml');
    const rule: ScopeRule =
      scope.paths !== undefined
        ? { read: 'root', write: scope.paths, command: 'contained', url: 'none' }
        : NOTHING.rule;
    // No scope of scopes.yaml can have such a name.
    const name = `{ ${Object.keys(scope).sort().join(', ')} }`;
    return { name, rule: makeScopeRule({ ...rule, resource: scope.resource, agency: undefined }) };
  }
  if (!defined.scopeNames.has(scope))
    report(['scope'], `unknown scope "${scope}"`, describeSimilarName(scope, defined.scopeNames));
  return { name: scope, rule: getOwn(defined.scopes, scope) ?? NOTHING.rule };
}

function resolveCalls(
  calls: NonNullable<PartiallyParsed<PeripheralFile>['calls']>,
  tools: readonly string[],
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): { [tool: string]: ToolGate[] } {
  const resolved: { [tool: string]: ToolGate[] } = {};
  for (const [tool, gates] of Object.entries(calls)) {
    if (!tools.includes(tool))
      report(['calls', tool], `"${tool}" is not among the tools`, describeSimilarName(tool, tools));
    resolved[tool] = resolveCallGates(gates ?? [], getOwn(defined.catalogue, tool), ['calls', tool], report);
  }
  return resolved;
}

function resolveDelegates(
  items: NonNullable<PartiallyParsed<PeripheralFile>['delegates']>,
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): Pick<PeripheralSpec, 'delegates' | 'agencies'> {
  const all = items.map((item) => {
    if (typeof item !== 'object') return { to: item, within: 'parent' as const, isAgency: false };
    const isAgency = 'agency' in item;
    return { to: isAgency ? item.agency : (item as { to?: string }).to, within: item.within ?? 'parent', isAgency };
  });
  const sound = all.flatMap(({ to, within, isAgency }, index) => {
    if (to === undefined) return [];
    if (!isAgency && !defined.peripherals.has(to))
      report(['delegates', index], `unknown peripheral "${to}"`, describeSimilarName(to, defined.peripherals));
    else if (all.findIndex((other) => other.to === to && other.isAgency === isAgency) !== index)
      report(['delegates', index], `"${to}" is listed twice`, 'keep one of them');
    else return [{ to, within, isAgency }];
    return [];
  });
  const delegatesOf = (ofAgency: boolean): Delegate[] =>
    sound.flatMap(({ to, within, isAgency }) => (isAgency === ofAgency ? [{ to, within }] : []));
  return { delegates: delegatesOf(false), ...(delegatesOf(true).length > 0 ? { agencies: delegatesOf(true) } : {}) };
}

function resolveGates(
  gates: PartiallyParsed<PeripheralFile>['gates'],
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): { [peripheral: string]: GateRule[] } {
  const resolved: { [peripheral: string]: GateRule[] } = {};
  for (const [to, rules] of Object.entries(gates ?? {})) {
    if (!defined.peripherals.has(to)) {
      report(['gates', to], `unknown peripheral "${to}"`, describeSimilarName(to, defined.peripherals));
      continue;
    }
    resolved[to] = (rules ?? []).flatMap((rule): GateRule[] => {
      if ('approval' in rule) return [{ kind: 'approval', by: 'operator' }];
      if ('when' in rule && rule.when !== undefined) return [{ kind: 'when', cel: rule.when }];
      if (!('pattern' in rule) || rule.pattern === undefined || rule.is === undefined) return [];
      return [{ kind: 'pattern', pattern: rule.pattern, is: rule.is }];
    });
  }
  return resolved;
}
