import { fieldsOf, listOf } from '../../base/json.ts';
import { checkEdges, checkOwnConditions, checkPeripheralCelRules, checkToolCelRules } from '../check/check-edges.ts';
import { checkReportedFieldTypes } from '../check/check-reported.ts';
import type { DefinedSpecNames } from '../check/defined-names.ts';
import type { ReportSpecProblem, SpecProblem } from '../check/spec-problem.ts';
import { hashSpecs } from '../hash-specs.ts';
import { type PeripheralDraft, parseSpecSources, type SpecDrafts } from '../load/read-sources.ts';
import type { SpecSource } from '../load/source-document.ts';
import { getOwn } from '../names.ts';
import { fieldsReportedByTools } from '../reported-fields.ts';
import type { PeripheralFile } from '../schema/peripheral-file.ts';
import { resolveProperties } from '../schema/properties-file.ts';
import { type FruitType, type Json, type PeripheralSpec, type SpecSet, TESTS_PASSED_CONDITION } from '../types.ts';
import { bindUnboundExits, deriveEdges } from './derive-edges.ts';
import { resolveEverywhereTools, resolveModeGate, resolveScopes, resolveTools } from './resolve-catalogue.ts';
import { isEntrySourceName } from './resolve-entry.ts';
import { resolvePeripheral } from './resolve-peripheral.ts';

/** The result of reading authored files: a trusted value, or all their problems. */
export type ParsedSpecs<Name extends string, Value> =
  | ({ readonly ok: true } & { readonly [key in Name]: Value })
  | { readonly ok: false; readonly problems: readonly SpecProblem[] };

/**
 * Turns the texts of a spec set into the trusted value, or reports all problems of all files at once. Pure: reads
 * nothing.
 * @param sources the files of the set; their names decide their kind (`gate.yaml`, `peripherals/edit.yaml`, `all.edn`)
 * @param catalogue `tools.yaml` and `scopes.yaml` to fall back on, entry by entry; `loadSpecs` gives the built-in ones
 * @example
 * const parsed = parseSpecSet([{ file: 'peripherals/look.yaml', text }], await loadBuiltInCatalogue());
 * if (!parsed.ok) console.error(formatSpecProblems(parsed.problems));
 */
export function parseSpecSet(
  sources: readonly SpecSource[],
  catalogue: readonly SpecSource[] = [],
): ParsedSpecs<'specs', SpecSet> {
  const problems: SpecProblem[] = [];
  const fallback = parseSpecSources(catalogue, problems);
  const drafts = parseSpecSources(sources, problems);
  const authored = readCatalogue(drafts);
  const builtIn = readCatalogue(fallback);
  const tools = { ...builtIn.tools, ...authored.tools };
  const scopes = { ...builtIn.scopes, ...authored.scopes };
  const reported = fieldsReportedByTools({ tools });
  const checks = Object.keys(reported.checks);
  const conditions = readConditions(drafts, checks);

  const unique = uniquePeripherals(drafts.peripherals);
  const defined: DefinedSpecNames = {
    modes: drafts.gate === null ? null : Object.keys(drafts.gate.file?.modes ?? {}),
    peripherals: new Set(unique.flatMap(({ id, alias }) => [id, alias])),
    tools: new Set([...Object.keys(tools), ...authored.toolNames, ...builtIn.toolNames]),
    catalogue: tools,
    scopeNames: new Set([...Object.keys(scopes), ...authored.scopeNames, ...builtIn.scopeNames]),
    scopes,
    reported,
    conditions: new Set([TESTS_PASSED_CONDITION, ...checks, ...Object.keys(conditions)]),
    fruitValues: Object.fromEntries(unique.map(({ id, raw }) => [id, observedValues(raw['fruit'])])),
    fruitFields: Object.fromEntries(
      unique.flatMap(({ id, alias, raw, file }) => {
        const fruit = raw['fruit'] ?? observedFruit(file?.tools ?? [], tools);
        const fields = file ? Object.keys(fruit ?? {}) : null;
        return [id, alias].map((name) => [name, fields]);
      }),
    ),
  };
  const modeGate = drafts.gate?.file
    ? resolveModeGate(drafts.gate.file, defined.peripherals, drafts.gate.report)
    : null;

  const everywhere = drafts.tools.flatMap(({ file, report }) => resolveEverywhereTools(file, defined, report));
  const reports: { [id: string]: ReportSpecProblem } = {};
  const resolved: { [id: string]: PeripheralSpec } = {};
  for (const { id, file, report } of unique) {
    if (file === undefined) continue;
    reports[id] = report;
    const fruit = file.fruit ?? observedFruit(file.tools ?? [], tools);
    const own = [...(file.tools ?? []), ...everywhere.filter((tool) => !file.tools?.includes(tool))];
    resolved[id] = resolvePeripheral(id, { ...file, tools: own, ...(fruit ? { fruit } : {}) }, defined, report);
  }
  const peripherals = bindUnboundExits(resolved);
  const edges = deriveEdges(peripherals);
  const isSound = (id: string, key: string): boolean => {
    const prefix = `peripherals.${id}.${key}`;
    return !problems.some(({ path }) => path === prefix || path.startsWith(`${prefix}.`));
  };
  checkEdges(peripherals, edges, reports, isSound);
  checkPeripheralCelRules(peripherals, defined, reports, tools);
  for (const file of authored.toolFiles) checkToolCelRules(file.tools, peripherals, defined, file.report);
  for (const { file, report } of drafts.tools) checkReportedFieldTypes(file, tools, report);
  if (drafts.conditions) checkOwnConditions(conditions, peripherals, defined, drafts.conditions.report);
  const listed = drafts.properties?.raw['properties'];
  const properties = drafts.properties?.file
    ? resolveProperties(
        { ...drafts.properties.file, authored: Array.isArray(listed) ? listed : [] },
        defined,
        drafts.properties.report,
      )
    : null;
  if (unique.length === 0 && problems.length === 0) problems.push(noPeripherals(sources));

  if (problems.length > 0) return { ok: false, problems };
  const specs = {
    modeGate,
    tools,
    scopes,
    conditions,
    peripherals,
    edges,
    ...(properties ? { properties } : {}),
  };
  return { ok: true, specs: { hash: hashSpecs(specs), ...specs } };
}

/** The lists of values in a `fruit`, read before the YAML is checked. */
const observedValues = (fruit: unknown): readonly string[] =>
  Object.values(fieldsOf(fruit as Json)).flatMap((field) => listOf(fieldsOf(field)['observed']).map(String));

function readCatalogue(drafts: SpecDrafts) {
  const names = (kind: 'tools' | 'scopes') =>
    drafts[kind].flatMap(({ raw }) => Object.keys((raw[kind] as object | null | undefined) ?? {}));
  const toolFiles = drafts.tools.map(({ file, report }) => ({ tools: resolveTools(file, report), report }));
  return {
    toolFiles,
    tools: Object.assign({}, ...toolFiles.map((file) => file.tools)) as SpecSet['tools'],
    scopes: Object.assign({}, ...drafts.scopes.map(({ file }) => resolveScopes(file))) as SpecSet['scopes'],
    toolNames: names('tools'),
    scopeNames: names('scopes'),
  };
}

function readConditions({ conditions }: SpecDrafts, checks: readonly string[]): { [name: string]: string } {
  const rules: { [name: string]: string } = {};
  for (const [name, cel] of Object.entries(conditions?.file?.conditions ?? {})) {
    if (name === TESTS_PASSED_CONDITION || checks.includes(name))
      conditions?.report(['conditions', name], `"${name}" is built in`, 'choose another name');
    else if (isEntrySourceName(name)) {
      conditions?.report(['conditions', name], `"${name}" is an entry source`, 'choose another name');
    } else if (cel !== undefined) rules[name] = cel;
  }
  return rules;
}

function uniquePeripherals(drafts: readonly PeripheralDraft[]): PeripheralDraft[] {
  const unique = new Map<string, PeripheralDraft>();
  for (const draft of drafts) {
    if (unique.has(draft.id)) draft.report(['id'], `"${draft.id}" is the id of two peripherals`, 'rename one of them');
    else unique.set(draft.id, draft);
  }
  return [...unique.values()];
}

function noPeripherals(sources: readonly SpecSource[]): SpecProblem {
  const file = sources[0]?.file ?? '';
  const suggestion = 'add peripherals/<id>.yaml, or a file with peripherals in EDN';
  return { file, path: 'peripherals', message: 'the spec set has no peripherals', suggestion };
}

/** The observation that counts the calls of a tool, by the tool's id. */
const COUNTED = { bell: 'bells', whistle: 'whistles' } as const;

/**
 * The default fruit: the fields that the tools observe, the steps and the messages; undefined if the tools observe
 * nothing.
 */
function observedFruit(ids: readonly string[], tools: SpecSet['tools']) {
  const fields = ids.flatMap((id) => Object.entries(getOwn(tools, id)?.observes ?? {}));
  if (fields.length === 0) return undefined;
  const types: readonly (readonly [string, FruitType])[] = [
    ['steps', 'integer'],
    ...Object.entries(COUNTED).flatMap(([tool, field]) => (ids.includes(tool) ? [[field, 'integer'] as const] : [])),
    ...fields,
  ];
  return Object.fromEntries(types.map(([field, observed]) => [field, { observed }])) as PeripheralFile['fruit'];
}
