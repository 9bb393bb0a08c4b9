import { isExclusion } from '../../spec/path-patterns.ts';
import type { PeripheralSpec, ScopeRule } from '../../spec/types.ts';
import { type AuditedPin, scopeOf } from '../rules/audit-state.ts';
import { isWithinPaths } from '../rules/audited-path.ts';
import { sameJson } from '../rules/compare-json.ts';

const READS: readonly ScopeRule['read'][] = ['root', 'session-log', 'none'];
/** The kinds of commands that a scope grants if it grants this kind. */
const COMMANDS: { readonly [command in ScopeRule['command']]: readonly ScopeRule['command'][] } = {
  none: ['none'],
  test: ['none', 'test'],
  'read-only': ['none', 'test', 'read-only'],
  contained: ['none', 'test', 'read-only', 'contained'],
  deploy: ['none', 'deploy'],
};

/**
 * The parts of a sub-agent's peripheral that grant more than a peripheral of its parent, in words; empty if none does.
 * A glob counts as granted only by the same glob, or by a folder around it.
 */
export function widerThan(
  [inner, innerPin]: readonly [PeripheralSpec, AuditedPin],
  [outer, outerPin]: readonly [PeripheralSpec, AuditedPin],
): readonly string[] {
  const tools = inner.tools.filter((tool) => !outer.tools.includes(tool));
  const [has, may] = [scopeOf(inner, innerPin.config), scopeOf(outer, outerPin.config)];
  const writes = widerPatterns(has.write, may.write);
  const reaches = widerPatterns(has.resource ?? [], may.resource ?? []);
  const { steps, minutes } = inner.limits;
  const isLonger = (mine: number | null, most: number | null) => most !== null && (mine === null || mine > most);
  const free = inner.tools.filter((tool) => {
    const demanded = outer.calls?.[tool] ?? [];
    return demanded.some((gate) => !inner.calls?.[tool]?.some((own) => sameJson({ ...own }, { ...gate })));
  });
  return [
    ...(tools.length > 0 ? [`tools ${tools.join(', ')}`] : []),
    ...(READS.indexOf(has.read) < READS.indexOf(may.read) ? [`read: ${has.read}`] : []),
    ...(writes.length > 0 ? [`write: ${writes.join(', ')}`] : []),
    ...(COMMANDS[may.command].includes(has.command) ? [] : [`command: ${has.command}`]),
    ...(has.url === 'none' || may.url === has.url ? [] : [`url: ${has.url}`]),
    ...(reaches.length > 0 ? [`resource: ${reaches.join(', ')}`] : []),
    ...(isLonger(steps, outer.limits.steps) ? ['limits: steps'] : []),
    ...(isLonger(minutes, outer.limits.minutes) ? ['limits: minutes'] : []),
    ...(free.length > 0 ? [`calls without their rules: ${free.join(', ')}`] : []),
  ];
}

/**
 * The patterns that the other list does not grant, and the other list's exclusions that are missing; empty if nothing
 * more is granted.
 */
function widerPatterns(mine: readonly string[], others: readonly string[]): readonly string[] {
  const granting = mine.filter((pattern) => !isExclusion(pattern));
  if (granting.length === 0) return [];
  const plain = others.filter((pattern) => !isExclusion(pattern) && !/[*?[{(]/.test(pattern));
  const more = granting.filter((pattern) => !others.includes(pattern) && !isWithinPaths(pattern, plain));
  return [...more, ...others.filter((pattern) => isExclusion(pattern) && !mine.includes(pattern))];
}
