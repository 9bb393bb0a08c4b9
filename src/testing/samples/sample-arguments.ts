import { isWritablePath } from '../../audit/rules/audited-path.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import { INSTALL_TOOL_ID } from '../../spec/policy/command-tools.ts';
import type { Fields, Json, ProjectConfig, ScopeRule, ToolParameter, ToolSpec } from '../../spec/types.ts';

/** The limits of a call's arguments: its scope and the session's files. */
interface SampleScope {
  readonly scope: ScopeRule;
  readonly config: ProjectConfig;
  readonly files: readonly string[];
}

/** Arguments that the catalogue and the scope both accept; null if the scope allows no call. */
export function makeSampleArguments(tool: ToolSpec, reach: SampleScope): Fields | null {
  const args: { [name: string]: Json } = {};
  for (const parameter of tool.parameters) {
    const needed =
      parameter.required || (ARGUMENT_ROLE_FACTS[parameter.role].absentMeansRoot && reach.scope.read !== 'root');
    if (!needed) continue;
    const value = sampleValue(tool, parameter, reach);
    if (value === null) return null;
    args[parameter.name] = value;
  }
  return args;
}

function sampleValue(
  tool: ToolSpec,
  { role, schema }: ToolParameter,
  { scope, config, files }: SampleScope,
): Json | null {
  switch (role) {
    case 'path:read':
      if (scope.read === 'none') return null;
      return asList(schema, scope.read === 'root' ? 'README.md' : (files[0] ?? null));
    case 'path:write':
      return asList(schema, chooseWritableFile(scope));
    case 'command':
      return scope.command === 'none' ? null : sampleCommand(tool, scope, config);
    case 'url':
      return scope.url === 'none' || !config.web.allow[0] ? null : `https://${config.web.allow[0].replace('*.', '')}/`;
    case 'resource': {
      const pattern = scope.resource?.find((each) => !each.startsWith('!'));
      return pattern === undefined ? null : asList(schema, pattern.replaceAll('**', 'a').replaceAll('*', 'a'));
    }
    case 'agency':
      return scope.agency?.[0]?.to ?? null;
    case 'text':
      return sampleOfSchema(schema);
    default:
      return role satisfies never;
  }
}

export const chooseWritableFile = ({ write }: ScopeRule): string | null =>
  write.map(sampleFileIn).find((path) => isWritablePath(path, write)) ?? null;

/** A file in a folder, or the path itself if it names a file. A glob counts as a file, because it matches itself. */
export const sampleFileIn = (path: string): string =>
  /\.[a-z0-9]+$/i.test(path) ? path : `${path.replace(/^\.(?:\/|$)|(?<!\/)\/+$/g, '')}/a.txt`.replace(/^\//, '');

const asList = (schema: ToolParameter['schema'], value: string | null): Json | null =>
  value !== null && schema['type'] === 'array' ? [value] : value;

function sampleCommand({ id }: ToolSpec, { command }: ScopeRule, config: ProjectConfig): Json | null {
  const { test, deploy, install = [] } = config;
  if (id === INSTALL_TOOL_ID) return install[0]?.run.join(' ') ?? null;
  if (command === 'test') return test[0]?.run.filter((word) => word !== '{args}').join(' ') ?? null;
  if (command === 'deploy' && id === 'bash-deploy') return Object.keys(deploy)[0] ?? null;
  return command === 'deploy' ? 'status' : 'true';
}

/** A value that a JSON Schema accepts, for the schemas that tools use. */
export function sampleOfSchema(schema: Fields): Json {
  const { enum: values, const: fixed, anyOf, oneOf, default: fallback } = schema;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(values) && values[0] !== undefined) return values[0];
  if (fallback !== undefined) return fallback;
  const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null;
  if (alternatives?.[0]) return sampleOfSchema(alternatives[0] as typeof schema);
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  if (type === 'integer' || type === 'number') return Math.max(1, Number(schema['minimum'] ?? 1));
  if (type === 'boolean') return true;
  if (type === 'array')
    return Array.from({ length: Number(schema['minItems'] ?? 0) }, () =>
      sampleOfSchema((schema['items'] ?? {}) as never),
    );
  if (type === 'object')
    return Object.fromEntries(
      (Array.isArray(schema['required']) ? schema['required'] : []).map((name) => [
        String(name),
        sampleOfSchema((schema['properties'] as { [key: string]: never } | undefined)?.[String(name)] ?? {}),
      ]),
    );
  return 'x'.repeat(Math.max(1, Number(schema['minLength'] ?? 1)));
}
