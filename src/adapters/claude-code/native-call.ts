import { join } from 'node:path';
import type { Session } from '../../session/session.ts';
import type { Fields } from '../../spec/types.ts';
import { toShellCommand } from '../core/calls/shell-route.ts';
import type { HopgateToolCall } from '../core/calls/tool-call-to-action.ts';

/** The equivalent of a hopgate tool call among Claude Code's own tools; null if there is none. */
export function toNativeClaudeCall(
  { specs, config, root }: Session,
  { tool, args }: HopgateToolCall,
): { readonly tool: string; readonly input: Fields } | null {
  const { path = '', ...rest } = args;
  const file_path = join(root, String(path));
  switch (tool) {
    case 'read':
      return { tool: 'Read', input: { file_path, ...rest } };
    case 'write':
      return { tool: 'Write', input: { file_path, ...rest } };
    case 'edit': {
      const { old = '', new: text = '', all } = rest;
      const input = { file_path, old_string: old, new_string: text };
      return { tool: 'Edit', input: all === undefined ? input : { ...input, replace_all: all } };
    }
    default: {
      const command = toShellCommand({ tool, args }, specs, config);
      return command === null ? null : { tool: 'Bash', input: { command } };
    }
  }
}
