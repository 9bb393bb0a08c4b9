import { recordsIntent } from '../../spec/policy/tool-effects.ts';
import type { ToolSpec, UpstreamTool } from '../../spec/types.ts';
import { hashListedTool, type ListedTool } from './listed-tool.ts';

export interface ToolComparison {
  readonly tool: string;
  readonly upstream: UpstreamTool;
  /** `differs` if the tool can be called, but the server will not understand every call. */
  readonly standing: 'ok' | 'missing' | 'changed' | 'differs' | 'unknown';
  readonly remarks: readonly string[];
}

/**
 * Compares a tool of the spec with the tool that it is bound to.
 * @param listed the server's tool; undefined if it lists no such tool, null if the server could not be asked
 */
export function compareUpstreamTool(
  tool: ToolSpec & { readonly upstream: UpstreamTool },
  listed: ListedTool | undefined | null,
): ToolComparison {
  const { id, upstream } = tool;
  const base = { tool: id, upstream };
  if (listed === null) return { ...base, standing: 'unknown', remarks: [] };
  if (listed === undefined) return { ...base, standing: 'missing', remarks: ['the server has no such tool'] };
  const problems = argumentProblems(tool, listed);
  const hash = hashListedTool(listed);
  const remarks = [
    ...problems,
    ...(upstream.schemaHash === null ? [`not pinned; its schema-hash is ${hash}`] : []),
    ...(!recordsIntent(tool) && listed.annotations?.readOnlyHint !== true
      ? [`the server does not declare it read-only, but the spec says ${tool.effect}`]
      : []),
  ];
  if (upstream.schemaHash !== null && upstream.schemaHash !== hash)
    return {
      ...base,
      standing: 'changed',
      remarks: [
        `it differs from the tool that schema-hash pins; review it, then set schema-hash to ${hash} in tools.yaml`,
        ...remarks,
      ],
    };
  return { ...base, standing: problems.length > 0 ? 'differs' : 'ok', remarks };
}

function argumentProblems({ parameters }: ToolSpec, { inputSchema }: ListedTool): readonly string[] {
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = inputSchema as {
    readonly properties?: object;
    readonly required?: readonly string[];
    readonly additionalProperties?: unknown;
  };
  const declared = new Map(parameters.map((parameter) => [parameter.as ?? parameter.name, parameter]));
  const unknownNames =
    additionalProperties === true ? [] : [...declared.keys()].filter((name) => !Object.hasOwn(properties, name));
  return [
    ...unknownNames.map((name) => `the server knows no argument "${name}"`),
    ...required
      .filter((name) => !declared.get(name)?.required)
      .map(
        (name) =>
          `the server demands "${name}", and the spec ${declared.has(name) ? 'makes it optional' : 'has no such argument'}`,
      ),
  ];
}
