import { getOwn } from '../names.ts';
import type { PartiallyParsed } from '../schema/parse-partial.ts';
import type { ToolsFile } from '../schema/tools-file.ts';
import type { SpecSet } from '../types.ts';
import type { ReportSpecProblem } from './spec-problem.ts';

/** Checks that a field that several tools report has one type, and is either observed or state. */
export function checkReportedFieldTypes(
  file: PartiallyParsed<ToolsFile> | undefined,
  tools: SpecSet['tools'],
  report: ReportSpecProblem,
): void {
  for (const [id, { observes = {}, state = {} }] of Object.entries(tools)) {
    if (!getOwn(file?.tools ?? {}, id)) continue;
    for (const [kind, other, fields] of [
      ['observes', 'state', observes],
      ['state', 'observes', state],
    ] as const)
      for (const [field, type] of Object.entries(fields)) {
        const at = ['tools', id, kind, field];
        const elsewhere = Object.values(tools).find((tool) => {
          const has = getOwn(tool[kind] ?? {}, field);
          return has !== undefined && JSON.stringify(has) !== JSON.stringify(type);
        });
        if (elsewhere) report(at, `"${field}" has another type in ${elsewhere.id}`, 'give the field one type');
        const taken = Object.values(tools).find((tool) => getOwn(tool[other] ?? {}, field) !== undefined);
        if (taken) report(at, `"${field}" is in ${other} of ${taken.id} too`, 'keep one of them');
      }
  }
}
