import type { ArgumentRole } from '../../spec/types.ts';

export type SchemaProperty = { readonly [keyword: string]: unknown };

interface RoleGuess {
  readonly role: ArgumentRole;
  /** The question that a person must answer about the role; null if a value of this type can reach nothing. */
  readonly question: string | null;
}

const PATH_NAME =
  /(?:^|_)(?:path|file|filename|dir|directory|folder|source|destination|src|dest|target|root|cwd)s?(?:_|$)/;

/** Patterns of the usual argument names by role, in the order of guessing; null if names do not show it. */
const NAMES: { readonly [role in ArgumentRole]: RegExp | null } = {
  url: /(?:^|_)(?:url|uri|href|link|endpoint)s?(?:_|$)/,
  command: /(?:^|_)(?:command|cmd|script|shell|code|expression|sql|query_string)s?(?:_|$)/,
  'path:read': PATH_NAME,
  'path:write': PATH_NAME,
  resource: /(?:^|_)(?:table|collection|bucket|queue|topic|database)s?(?:_|$)/,
  agency: null,
  text: null,
};

const snakeCase = (name: string): string => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();

export function guessArgumentRole(name: string, property: SchemaProperty, readsOnly: boolean): RoleGuess {
  if (holdsText(property)) {
    const word = snakeCase(name).replaceAll('-', '_');
    if (property['format'] === 'uri') return { role: 'url', question: 'CHECK the role' };
    const other = readsOnly ? 'path:write' : 'path:read';
    const named = (Object.keys(NAMES) as ArgumentRole[]).find((role) => role !== other && NAMES[role]?.test(word));
    if (named) return { role: named, question: 'CHECK the role' };
    return {
      role: 'text',
      question: property['enum'] ? null : 'CHECK the role: an argument with the role text has no limits',
    };
  }
  const plain = ['number', 'integer', 'boolean', 'null'].includes(String(property['type']));
  return { role: 'text', question: plain ? null : 'CHECK: no rule limits its content' };
}

/**
 * True if the value may be a string or a list of strings, which may hold a path, a command or an address. So may a
 * value whose schema is a reference, or says nothing about the type.
 */
function holdsText({ type, items, anyOf, oneOf }: SchemaProperty): boolean {
  const each = anyOf ?? oneOf;
  if (Array.isArray(each)) return each.some((one: SchemaProperty) => holdsText(one));
  const types = [type].flat();
  if (type === undefined || types.includes('string')) return true;
  return types.includes('array') && holdsText((items ?? {}) as SchemaProperty);
}
