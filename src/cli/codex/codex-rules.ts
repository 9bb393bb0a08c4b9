import type { AgentSession } from '../../adapters/core/agent-session.ts';
import { readCallArguments } from '../../adapters/core/calls/control-calls.ts';
import { toShellCommand } from '../../adapters/core/calls/shell-route.ts';
import type { McpOptions } from '../../adapters/mcp/mcp-options.ts';
import { findClientProgram } from '../client/client-program.ts';
import type { Io } from '../io.ts';
import { readPinOfSession } from '../mcp/session-reading.ts';

/** Applies the user's rules for Codex's shell to the commands that hopgate's tools run instead of it. */
export const makeCodexRuleCheck =
  (io: Io, root: string, session: AgentSession): NonNullable<McpOptions['userRules']> =>
  async ({ name, input }) => {
    const { specs, config } = await readPinOfSession(io, root, session);
    const command = toShellCommand({ tool: name, args: readCallArguments(input) }, specs, config) ?? '';
    if (command.trim() === '') return null;
    const { judgeByUserRules } = await import('../../adapters/codex/codex-user-rules.ts');
    const ruled = await judgeByUserRules(command, () => findClientProgram(io, 'codex', null), root, io.env);
    return ruled && { ...ruled, command };
  };
