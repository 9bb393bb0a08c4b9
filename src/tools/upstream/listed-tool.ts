import type { Tool } from '@modelcontextprotocol/client';
import { canonicalJson } from '../../evidence/canonical.ts';
import type { Json } from '../../spec/types.ts';
import { sha256Hex } from '../content-effect.ts';

export type ListedTool = Tool;

/**
 * sha256 of a server's description and schema of a tool. It changes if the server changes the tool's meaning.
 * @example hashListedTool(tool) // the value of `schema-hash` in tools.yaml
 */
export function hashListedTool(tool: ListedTool): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const hashed = { name, title, description, inputSchema, outputSchema, annotations };
  return sha256Hex(canonicalJson(JSON.parse(JSON.stringify(hashed).toWellFormed()) as Json));
}
