import { isExcludingPattern } from '../../spec/path-patterns.ts';
import { makeScopeRule } from '../../spec/policy/scope-rule.ts';
import type { ScopeRule } from '../../spec/types.ts';
import { isPathWithinAny } from '../scope/locate-path.ts';

/**
 * The command rules of scopes, from the narrowest to the widest. `deploy` is not in the order: it neither contains
 * another rule nor is contained in one.
 */
const COMMANDS: readonly ScopeRule['command'][] = ['none', 'test', 'read-only', 'contained'];
const READS: readonly ScopeRule['read'][] = ['none', 'session-log', 'root'];

/**
 * The scope that grants only what both scopes grant. If two patterns overlap and neither contains the other, the scope
 * grants neither of them.
 *
 * @example commonScope({ ...rule, write: ['src/'] }, { ...rule, write: ['src/a/', 'docs/'] }).write // ['src/a/']
 */
export function commonScope(a: ScopeRule, b: ScopeRule): ScopeRule {
  const resource = commonPatterns(a.resource ?? [], b.resource ?? [], () => false);
  return makeScopeRule({
    read: lesserWord(READS, a.read, b.read) ?? 'none',
    write: commonPatterns(a.write, b.write, containsPath),
    command: a.command === b.command ? a.command : (lesserWord(COMMANDS, a.command, b.command) ?? 'none'),
    url: a.url === b.url ? a.url : 'none',
    resource: resource.length === 0 ? undefined : resource,
    agency: undefined,
  });
}

/** The narrower of two rules in a list that begins with the narrowest; null if the list lacks one of them. */
function lesserWord<Word>(order: readonly Word[], a: Word, b: Word): Word | null {
  return order.includes(a) && order.includes(b) ? order[Math.min(order.indexOf(a), order.indexOf(b))]! : null;
}

/**
 * The patterns of either list that the other list grants in full, and the exclusions of both lists. Empty if no pattern
 * is granted by both.
 */
function commonPatterns(
  a: readonly string[],
  b: readonly string[],
  holds: (outer: string, inner: string) => boolean,
): readonly string[] {
  const granting = (list: readonly string[]) => list.filter((pattern) => !isExcludingPattern(pattern));
  const inside = (inner: readonly string[], outer: readonly string[]) =>
    inner.filter((pattern) => outer.some((other) => other === pattern || holds(other, pattern)));
  const granted = [...inside(granting(a), granting(b)), ...inside(granting(b), granting(a))];
  return granted.length === 0 ? [] : [...new Set([...granted, ...[...a, ...b].filter(isExcludingPattern)])];
}

/** True if a path contains another path, or everything that a glob can match. */
function containsPath(outer: string, inner: string): boolean {
  const fixed = inner.split('/').slice(0, firstWild(inner)).join('/');
  return !WILD.test(outer) && isPathWithinAny([outer], fixed === '' ? '.' : fixed);
}

const WILD = /[*?[{(]/;

function firstWild(pattern: string): number | undefined {
  const at = pattern.split('/').findIndex((name) => WILD.test(name));
  return at < 0 ? undefined : at;
}
