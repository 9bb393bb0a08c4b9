import { isExcludingPattern } from '../../spec/path-patterns.ts';
import type { PeripheralSpec, ScopeRule } from '../../spec/types.ts';
import { type AuditedPin, peripheralScope } from '../rules/audit-state.ts';
import { isWithinPaths } from '../rules/audited-path.ts';
import { isSameJson } from '../rules/compare-json.ts';

const READS: readonly ScopeRule['read'][] = ['root', 'session-log', 'none'];
/** By the `command` rule of a parent's scope: the rules of a sub-agent's scope that grant no more. */
const COMMANDS: { readonly [command in ScopeRule['command']]: readonly ScopeRule['command'][] } = {
  none: ['none'],
  test: ['none', 'test'],
  'read-only': ['none', 'test', 'read-only'],
  contained: ['none', 'test', 'read-only', 'contained'],
  deploy: ['none', 'deploy'],
};

/**
 * Describes the parts of a sub-agent's peripheral (`inner`) that grant more than a peripheral of its parent (`outer`);
 * empty if none does. A glob counts as granted only by the same glob, or by a folder that contains it.
 */
export function findExtraPermissions(
  [inner, innerPin]: readonly [PeripheralSpec, AuditedPin],
  [outer, outerPin]: readonly [PeripheralSpec, AuditedPin],
): readonly string[] {
  const tools = inner.tools.filter((tool) => !outer.tools.includes(tool));
  const [innerScope, outerScope] = [peripheralScope(inner, innerPin.config), peripheralScope(outer, outerPin.config)];
  const extraLimits: { readonly [limit in keyof Required<ScopeRule>]: readonly string[] } = {
    read: READS.indexOf(innerScope.read) < READS.indexOf(outerScope.read) ? [innerScope.read] : [],
    write: extraPatterns(innerScope.write, outerScope.write),
    command: COMMANDS[outerScope.command].includes(innerScope.command) ? [] : [innerScope.command],
    url: innerScope.url === 'none' || outerScope.url === innerScope.url ? [] : [innerScope.url],
    resource: extraPatterns(innerScope.resource ?? [], outerScope.resource ?? []),
    agency: (inner.agencies ?? []).flatMap((own) =>
      outer.agencies?.some((each) => isSameJson({ ...own }, { ...each })) ? [] : [own.to],
    ),
  };
  const { steps, minutes } = inner.limits;
  const exceeds = (limit: number | null, most: number | null) => most !== null && (limit === null || limit > most);
  const ungated = inner.tools.filter((tool) => {
    const demanded = outer.calls?.[tool] ?? [];
    return demanded.some((gate) => !inner.calls?.[tool]?.some((own) => isSameJson({ ...own }, { ...gate })));
  });
  return [
    ...(tools.length > 0 ? [`tools ${tools.join(', ')}`] : []),
    ...Object.entries(extraLimits).flatMap(([limit, more]) =>
      more.length > 0 ? [`${limit}: ${more.join(', ')}`] : [],
    ),
    ...(exceeds(steps, outer.limits.steps) ? ['limits: steps'] : []),
    ...(exceeds(minutes, outer.limits.minutes) ? ['limits: minutes'] : []),
    ...(ungated.length > 0 ? [`calls without the parent's rules: ${ungated.join(', ')}`] : []),
  ];
}

/** The patterns of `inner` that `outer` does not grant, and the exclusions of `outer` that `inner` lacks. */
function extraPatterns(inner: readonly string[], outer: readonly string[]): readonly string[] {
  const granting = inner.filter((pattern) => !isExcludingPattern(pattern));
  if (granting.length === 0) return [];
  const plain = outer.filter((pattern) => !isExcludingPattern(pattern) && !/[*?[{(]/.test(pattern));
  const more = granting.filter((pattern) => !outer.includes(pattern) && !isWithinPaths(pattern, plain));
  return [...more, ...outer.filter((pattern) => isExcludingPattern(pattern) && !inner.includes(pattern))];
}
