import type { DefinedSpecNames } from '../check/defined-names.ts';
import type { ReportSpecProblem } from '../check/spec-problem.ts';
import { describeSimilarName, getOwn } from '../names.ts';
import type { PartiallyParsed } from '../schema/parse-partial.ts';
import type { PeripheralFile } from '../schema/peripheral-file.ts';
import { FRUIT_OBSERVATIONS, type FruitField, type FruitType } from '../types.ts';

/** Resolves a peripheral's key `fruit`: the type of each field, and the source of an observed one. */
export function resolveFruit(
  fruit: PartiallyParsed<PeripheralFile>['fruit'],
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): { [field: string]: FruitField } {
  const fields: { [field: string]: FruitField } = {};
  for (const [field, value] of Object.entries(fruit ?? {})) {
    if (value === undefined) continue;
    if (getOwn(defined.reported.state, field) !== undefined)
      report(['fruit', field], `"${field}" is session state, which tools keep`, 'choose another name');
    if ('observed' in value && value.observed !== undefined) {
      const names = [...FRUIT_OBSERVATIONS, ...Object.keys(defined.reported.observed)];
      const from = names.find((name) => name === (value.from ?? field));
      const type = distinctValues(value.observed as FruitType, ['fruit', field, 'observed'], report);
      const reported = from === undefined ? undefined : getOwn(defined.reported.observed, from);
      if (reported !== undefined && JSON.stringify(reported) !== JSON.stringify(type))
        report(['fruit', field, 'observed'], `tools report "${from}" as ${typeName(reported)}`, 'write the same type');
      if (from) fields[field] = { kind: 'observed', type, from };
      else if (value.from === undefined) {
        const near = describeSimilarName(field, names);
        report(['fruit', field], `"${field}" is not an observation`, `name one with from, or state it; ${near}`);
      } else
        report(['fruit', field, 'from'], `unknown observation "${value.from}"`, describeSimilarName(value.from, names));
    } else if ('stated' in value && value.stated !== undefined) {
      const type = distinctValues(value.stated as FruitType, ['fruit', field, 'stated'], report);
      fields[field] = { kind: 'stated', type, optional: value.optional ?? false };
    }
  }
  return fields;
}

const typeName = (type: FruitType): string => (typeof type === 'string' ? type : `[${type.join(', ')}]`);

function distinctValues(type: FruitType, path: readonly string[], report: ReportSpecProblem): FruitType {
  if (typeof type === 'string') return type;
  type.forEach((value, index) => {
    if (type.indexOf(value) !== index) report([...path, index], `"${value}" is listed twice`, 'keep one of them');
  });
  return type;
}
