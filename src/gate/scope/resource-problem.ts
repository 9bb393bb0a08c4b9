import { compileGlob } from '../../base/glob.ts';
import { shorten } from '../../base/text.ts';
import { resourceNameProblem } from '../../spec/policy/resource-names.ts';
import type { Json } from '../../spec/types.ts';

interface ResourceProblem {
  readonly why: string;
  /** True if the value is not a valid name of a resource. */
  readonly invalid: boolean;
  /** The refused name. */
  readonly element: Json;
}

/**
 * Judges the name of a resource, or a list of names, by a scope's patterns: `*` matches within a name, `**` any number
 * of names, and `!` excludes. Only exclusions ignore letter case, as do many databases. null if the scope grants all of
 * them.
 *
 * @example resourceProblem('db:live/users', ['db:staging/*']) // { why: 'the scope does not grant this resource', … }
 */
export function resourceProblem(value: Json, patterns: readonly string[]): ResourceProblem | null {
  for (const element of Array.isArray(value) ? value : [value]) {
    if (typeof element !== 'string') return { why: 'the name of a resource must be a string', invalid: true, element };
    const problem = resourceNameProblem(element);
    if (problem !== null) {
      const shown = JSON.stringify(shorten(element, 200));
      return { why: `${shown} is not the name of a resource: ${problem}`, invalid: true, element };
    }
    if (patterns.length === 0) return { why: 'this scope reaches no resources', invalid: false, element };
    const fits = (name: string, pattern: string) => compileGlob(pattern)(name.split('/'));
    const granted = patterns.some((each) => !each.startsWith('!') && fits(element, each));
    const lower = element.toLowerCase();
    const excluded = patterns.find((each) => each.startsWith('!') && fits(lower, each.slice(1).toLowerCase()));
    if (!granted) return { why: 'the scope does not grant this resource', invalid: false, element };
    if (excluded !== undefined)
      return { why: `the scope excludes this resource (${excluded})`, invalid: false, element };
  }
  return null;
}
