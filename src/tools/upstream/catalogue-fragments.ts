import { z } from 'zod';
import { guessArgumentRole, type SchemaProperty } from './guess-role.ts';
import { hashListedTool, type ListedTool } from './listed-tool.ts';
import { removeControlCharacters } from './stderr-tail.ts';

/**
 * Writes entries of tools.yaml for a server's tools. Roles, effects and purposes are guesses, each marked `CHECK` for
 * review. The server's own descriptions are comments, to be read before an agent sees them.
 * @param prefix prefix of the ids; `files` gives `files-read-file`
 */
export function writeCatalogueFragments(
  server: string,
  tools: Iterable<ListedTool>,
  prefix: string,
): readonly { readonly id: string; readonly yaml: string }[] {
  const used = new Set<string>();
  return [...tools].map((tool) => {
    const id = uniqueName(`${prefix}-${kebab(tool.name)}`, used);
    return { id, yaml: entry(id, server, tool) };
  });
}

function entry(id: string, server: string, tool: ListedTool): string {
  const readsOnly = tool.annotations?.readOnlyHint === true;
  const parameters = parametersOf(tool, readsOnly);
  const folders = parameters.some(({ path }) => path) && NAMES_ONLY.test(tool.name);
  const lines = [
    ...comment(tool.description ?? ''),
    `${id}:`,
    `  purpose: ${yamlScalar(firstSentence(tool))} # CHECK: the server's words; the model reads them`,
    `  effect: ${readsOnly ? 'observe # CHECK: the server says that it only observes' : 'act'}`,
    '  upstream:',
    `    server: ${server}`,
    `    tool: ${yamlScalar(tool.name)}`,
    `    schema-hash: ${hashListedTool(tool)}`,
    ...(folders
      ? ['    folders: names # CHECK: remove this line if the tool shows or changes the content of files in a folder']
      : []),
    ...(parameters.length === 0
      ? ['  parameters: []']
      : ['  parameters:', ...parameters.flatMap(({ lines }) => lines)]),
    '  limits: { seconds: 60, output-bytes: 262144 }',
  ];
  return lines.map((line) => `  ${line}`.trimEnd()).join('\n');
}

const NAMES_ONLY = /(?:^|_)(?:list|tree|mkdir|create_?dir\w*|stat|info)(?:_|$)/i;

function parametersOf(
  { inputSchema }: ListedTool,
  readsOnly: boolean,
): readonly { readonly lines: readonly string[]; readonly path: boolean }[] {
  const {
    properties = {},
    required = [],
    ...rest
  } = inputSchema as {
    readonly properties?: { readonly [name: string]: SchemaProperty };
    readonly required?: readonly string[];
    readonly $defs?: SchemaProperty;
    readonly definitions?: SchemaProperty;
  };
  const used = new Set<string>();
  const needed = ([name]: readonly [string, SchemaProperty]): boolean => required.includes(name);
  const all = Object.entries(properties);
  return [...all.filter(needed), ...all.filter((one) => !needed(one))].map(([serverName, property]) => {
    const name = uniqueName(kebab(serverName), used);
    const { role, question } = guessArgumentRole(serverName, property, readsOnly);
    const { schema, whole } = schemaOf(property, rest);
    const parts = [
      `name: ${name}`,
      ...(name === serverName ? [] : [`as: ${yamlScalar(serverName)}`]),
      `role: ${role}${question === null ? '' : ` # ${question}`}`,
      `description: ${yamlScalar(oneLine(String(property['description'] ?? '')) || `The ${name.replaceAll('-', ' ')}.`)}`,
      ...(schema === null
        ? []
        : [`schema: ${JSON.stringify(schema)}${whole ? '' : ' # CHECK: its own schema cannot be used'}`]),
      ...(required.includes(serverName) ? [] : ['optional: true']),
    ];
    return {
      path: role.startsWith('path'),
      lines: parts.map((part, index) => `${index === 0 ? '    - ' : '      '}${part}`),
    };
  });
}

/** The schema of one argument; null if it is a plain string, which is the default. */
function schemaOf(
  { description: _, ...property }: SchemaProperty,
  { $defs, definitions }: { readonly $defs?: SchemaProperty; readonly definitions?: SchemaProperty },
): { readonly schema: object | null; readonly whole: boolean } {
  if (property['type'] === 'string' && Object.keys(property).length === 1) return { schema: null, whole: true };
  const shared = JSON.stringify(property).includes('"$ref"')
    ? { ...($defs ? { $defs } : {}), ...(definitions ? { definitions } : {}) }
    : {};
  const schema = { ...property, ...shared };
  try {
    z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    return { schema, whole: true };
  } catch {
    return { schema: {}, whole: false };
  }
}

const kebab = (name: string): string => {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|(?<!-)-+$/g, '');
  return /^[a-z]/.test(words) ? words : `x-${words}`.replace(/-$/, '');
};

function uniqueName(name: string, used: Set<string>): string {
  let free = name;
  for (let count = 2; used.has(free); count++) free = `${name}-${count}`;
  used.add(free);
  return free;
}

/** Writes a text as a YAML scalar: plain if that is safe, else as JSON, which is valid YAML. */
const yamlScalar = (text: string): string =>
  /^[A-Za-z][\w-]*$/.test(text) && !YAML_WORDS.test(text) ? text : JSON.stringify(text);
const YAML_WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

const oneLine = (text: string): string => removeControlCharacters(text).replaceAll(/\s+/g, ' ').trim();

const MAX_CHARS = 200;
function firstSentence({ name, title, description }: ListedTool): string {
  const text = oneLine(description ?? '');
  const sentence = /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
  return (sentence || oneLine(title ?? '') || `Does ${oneLine(name)}.`).slice(0, MAX_CHARS);
}

/** Writes a server's description as comment lines that its text cannot end. */
const comment = (text: string): readonly string[] =>
  text
    .split(/[\r\n\u0085\u2028\u2029]+/)
    .map((line) => oneLine(line))
    .filter((line) => line !== '')
    .map((line) => `# ${line}`);
