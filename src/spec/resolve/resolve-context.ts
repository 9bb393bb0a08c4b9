import type { DefinedSpecNames } from '../check/defined-names.ts';
import type { ReportSpecProblem } from '../check/spec-problem.ts';
import { describeSimilarName, findSimilarName, getOwn } from '../names.ts';
import type { PartiallyParsed } from '../schema/parse-partial.ts';
import type { PeripheralFile } from '../schema/peripheral-file.ts';
import type { ContextFieldRule } from '../types.ts';

/** Resolves a peripheral's key `context`, which states the source of each field on entry. */
export function resolveContext(
  context: PartiallyParsed<PeripheralFile>['context'],
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): { [field: string]: ContextFieldRule } {
  const rules: { [field: string]: ContextFieldRule } = {};
  for (const [field, value] of Object.entries(context ?? {})) {
    if (value === undefined) continue;
    const take = typeof value === 'string' ? value : value.take;
    const optional = typeof value === 'string' ? false : (value.optional ?? false);
    if (take === undefined) continue;
    const path = typeof value === 'string' ? ['context', field] : ['context', field, 'take'];
    const rule = contextRule(field, take, defined, (message, suggestion) => report(path, message, suggestion));
    if (rule) rules[field] = { ...rule, optional: rule.optional || optional };
  }
  return rules;
}

function contextRule(
  field: string,
  take: string,
  defined: DefinedSpecNames,
  report: (message: string, suggestion: string) => void,
): ContextFieldRule | null {
  if (take === 'inherit') return { source: { kind: 'inherit' }, optional: false };
  if (take === 'resumable') return { source: { kind: 'inherit' }, optional: true };
  if (take === 'fetch-from-musn') return { source: { kind: 'session-log' }, optional: true };
  const words = ['inherit', 'resumable', 'fetch-from-musn', ...[...defined.peripherals].map((id) => `from-${id}`)];
  if (!take.startsWith('from-') || findSimilarName(take, words.slice(0, 3)) !== null) {
    report(`unknown context source "${take}"`, describeSimilarName(take, words));
    return null;
  }
  const peripheral = take.slice('from-'.length);
  if (!defined.peripherals.has(peripheral)) {
    report(`unknown peripheral "${peripheral}"`, describeSimilarName(peripheral, defined.peripherals));
    return null;
  }
  const fields = getOwn(defined.fruitFields, peripheral) ?? null;
  if (fields !== null && !fields.includes(field)) {
    report(`${peripheral} yields no fruit "${field}"`, describeSimilarName(field, fields));
    return null;
  }
  return { source: { kind: 'fruit', peripheral }, optional: false };
}
