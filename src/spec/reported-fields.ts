import { getOrInsert } from '../base/get-or-insert.ts';
import { getOwn } from './names.ts';
import type { FruitType, SpecSet } from './types.ts';

type Tools = Pick<SpecSet, 'tools'>;

export const CHECK_PASSED_VALUE = 'pass';

interface ReportedFields {
  /** The types of the fields that tools observe, by the field's name. */
  readonly observed: { readonly [field: string]: FruitType };
  /** The types of the fields of session state, by the field's name. No caller and no fruit sets them. */
  readonly state: { readonly [field: string]: FruitType };
  /** The field of each check, by its entry condition `<field>-passed`. A check has `pass` among its values. */
  readonly checks: { readonly [condition: string]: string };
}

const reportedByTools = new WeakMap<Tools['tools'], ReportedFields>();

export const fieldsReportedByTools = ({ tools }: Tools): ReportedFields =>
  getOrInsert(reportedByTools, tools, () => {
    const all = Object.values(tools);
    const observed = Object.assign({}, ...all.map(({ observes }) => observes)) as ReportedFields['observed'];
    const state = Object.assign({}, ...all.map((tool) => tool.state)) as ReportedFields['state'];
    const checks = Object.keys(observed).filter(
      (field) => typeof observed[field] !== 'string' && observed[field]!.includes(CHECK_PASSED_VALUE),
    );
    return { observed, state, checks: Object.fromEntries(checks.map((field) => [`${field}-passed`, field])) };
  });

/** The field of a check by its entry condition; undefined if it is not the condition of a check. */
export const checkFieldOfCondition = (specs: Tools, condition: string): string | undefined =>
  getOwn(fieldsReportedByTools(specs).checks, condition);
