import { gatesOfCall } from '../spec/call-gates.ts';
import { ARGUMENT_ROLE_FACTS } from '../spec/policy/argument-roles.ts';
import type { Fields, Json, PeripheralSpec, ToolParameter, ToolSpec } from '../spec/types.ts';

/**
 * True for a reference to a blob that replaces a large value. For a list of files, the reference also has the paths.
 */
export function isBlobReference(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { blob, bytes, paths: _, ...more } = value;
  if (typeof blob !== 'string' || !Number.isInteger(bytes)) return false;
  return /^[0-9a-f]{64}$/.test(blob) && Object.keys(more).length === 0;
}

/** The parameters whose values may be stored as blobs: neither the scope nor a rule nor an approval judges them. */
export const listBlobParameters = (tool: ToolSpec, peripheral: PeripheralSpec | undefined): readonly ToolParameter[] =>
  gatesOfCall(tool, peripheral).length > 0
    ? []
    : tool.parameters.filter(({ role }) => ARGUMENT_ROLE_FACTS[role].isUnjudged);

/**
 * The names of a recorded call's arguments that are stored as blobs. All other arguments are stored as the agent wrote
 * them.
 */
export const listBlobArguments = (
  tool: ToolSpec | undefined,
  peripheral: PeripheralSpec | undefined,
  args: Fields,
): readonly string[] =>
  tool ? listBlobParameters(tool, peripheral).flatMap(({ name }) => (isBlobReference(args[name]) ? [name] : [])) : [];
