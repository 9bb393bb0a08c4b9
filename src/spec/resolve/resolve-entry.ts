import type { DefinedSpecNames } from '../check/defined-names.ts';
import type { ReportSpecProblem } from '../check/spec-problem.ts';
import { describeSimilarName } from '../names.ts';
import type { EntryRule, EntrySource } from '../types.ts';

const PLAIN_SOURCES = ['default', 'from-any', 'user-request', 'agent-request', 'session-close'] as const;

/** Resolves a peripheral's key `entry`: sorts its names into sources and conditions. */
export function resolveEntryRule(
  entry: string | readonly string[] | undefined,
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): EntryRule {
  const sources: EntrySource[] = [];
  const conditions: string[] = [];
  const names = typeof entry === 'string' ? [entry] : (entry ?? []);
  names.forEach((name, index) => {
    const path = typeof entry === 'string' ? ['entry'] : ['entry', index];
    const plain = PLAIN_SOURCES.find((kind) => kind === name);
    if (names.indexOf(name) !== index) report(path, `"${name}" is listed twice`, 'keep one of them');
    else if (plain) sources.push({ kind: plain });
    else if (defined.conditions.has(name)) conditions.push(name);
    else if (defined.peripherals.has(name.replace(/^from-/, '')) && name.startsWith('from-')) {
      sources.push({ kind: 'from', peripheral: name.slice('from-'.length) });
    } else {
      const from = [...defined.peripherals].map((id) => `from-${id}`);
      report(
        path,
        `unknown source or condition "${name}"`,
        describeSimilarName(name, [...PLAIN_SOURCES, ...from, ...defined.conditions]),
      );
    }
  });
  return { sources, conditions };
}

/** True if a name is (or looks like) a source, so that no condition may have this name. */
export const isEntrySourceName = (name: string): boolean =>
  name.startsWith('from-') || PLAIN_SOURCES.some((kind) => kind === name);
