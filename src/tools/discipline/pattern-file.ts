import { parse } from 'yaml';
import { isObject } from '../../base/json.ts';
import { PATTERN_ID_SYNTAX } from '../../evidence/patterns/pattern-tools.ts';

/** One pattern: its condition, its instruction and its reason. */
export interface LibraryPattern {
  readonly id: string;
  readonly title: string;
  readonly when: string;
  readonly do: string;
  readonly because: string;
  readonly tags: readonly string[];
}

const READERS: { readonly [ending: string]: (source: string) => { readonly [field: string]: unknown } } = {
  '.md': frontMatter,
  '.flexiarg': flexiarg,
};

export const PATTERN_FILE_ENDINGS: readonly string[] = Object.keys(READERS);

/**
 * Reads a pattern file: Markdown with `id`, `title`, `when`, `then`, `because` and optionally `tags` in its front
 * matter, or a flexiarg (`@flexiarg id`, `@title`, and the clauses IF, HOWEVER, THEN, BECAUSE). Without an id in the
 * file, the file's name is the id.
 * @returns the pattern, or a text that describes the problem
 */
export function readPatternFile(path: string, source: string): LibraryPattern | string {
  const ending = PATTERN_FILE_ENDINGS.find((one) => path.endsWith(one));
  const read = ending === undefined ? undefined : READERS[ending];
  if (!read || ending === undefined) return `a pattern file ends in ${PATTERN_FILE_ENDINGS.join(' or ')}`;
  let fields: { readonly [field: string]: unknown };
  try {
    fields = read(source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'));
  } catch (error) {
    return (error as Error).message.split('\n', 1)[0] ?? 'it cannot be read';
  }
  const stem = path.slice(path.lastIndexOf('/') + 1, -ending.length);
  const textField = (name: string) => {
    const value = fields[name];
    return typeof value === 'string' ? value.trim().replaceAll(/\s+/g, ' ') : '';
  };
  const id = textField('id') || stem;
  if (!PATTERN_ID_SYNTAX.test(id))
    return `"${id}" is not an id: write lower-case letters, digits and -, such as read-before-edit`;
  const when = textField('when');
  const action = textField('then') || textField('do');
  const missing = [
    ['when', when],
    ['then', action],
  ].flatMap(([name, value]) => (value === '' ? [name] : []));
  if (missing.length > 0) return `it does not state ${missing.join(' and ')}`;
  const { tags } = fields;
  return {
    id,
    title: textField('title') || id,
    when,
    do: action,
    because: textField('because'),
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
  };
}

function frontMatter(source: string): { readonly [field: string]: unknown } {
  const head = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(source)?.[1];
  if (head === undefined) throw new Error('it has no front matter: begin the file with --- and its fields');
  const fields: unknown = parse(head, { maxAliasCount: 0 });
  if (!isObject(fields)) throw new Error('its front matter is not a mapping');
  return fields as { readonly [field: string]: unknown };
}

/** Parses a flexiarg: `@flexiarg a/b`, `@title …`, `@keywords a, b`, then clauses: `+ IF: …` until the next one. */
function flexiarg(source: string): { readonly [field: string]: unknown } {
  const at: { [name: string]: string } = {};
  const clauses: { [name: string]: string } = {};
  let clause: string | null = null;
  for (const line of source.split('\n')) {
    const attribute = /^@([a-z-]+)\s(.*)/s.exec(line);
    const begun = /^\s*[!+]\s*([A-Za-z][A-Za-z\s-]*):(.*)/s.exec(line);
    if (attribute) {
      at[attribute[1] ?? ''] ??= (attribute[2] ?? '').trim();
      clause = null;
    } else if (begun) {
      clause = (begun[1] ?? '').trim().toLowerCase();
      clauses[clause] = (begun[2] ?? '').trim();
    } else if (clause !== null && line.trim() !== '') clauses[clause] += ` ${line.trim()}`;
  }
  const when = [clauses['if'] ?? clauses['context'], clauses['however'] && `However: ${clauses['however']}`];
  return {
    id: at['flexiarg'] ?? at['arg'],
    title: at['title'],
    when: when.filter((part) => part).join(' '),
    do: clauses['then'],
    because: clauses['because'],
    tags: at['keywords']?.split(/[,\s]+/).filter((word) => word !== ''),
  };
}
