import { approveOption } from '../../approve/approve-option.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { Io } from '../../io.ts';
import { parseAgentOption, rootOption } from '../../shared-options.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      "Puts an ACP agent into a session, for an editor that speaks the Agent Client Protocol (Zed, JetBrains, Neovim, Emacs). The only tools of the agent are those of hopgate's MCP server. The gate decides its requests for files and terminals. The editor shows the peripherals as modes and options, and asks for approvals. The agent runs in a sandbox in which the repository is empty. Uses stdin and stdout, and logs to stderr.",
    )
    .argument('<command...>', 'the ACP agent and its arguments, after "--"')
    .addOption(rootOption())
    .option('--agent <id>', "the agent's id", parseAgentOption, 'acp')
    .option('--peripheral <id>', 'the first peripheral of each session')
    .option('--specs <dir>', 'the spec set of each session')
    .addOption(approveOption())
    .option('--unsafe-no-sandbox', "run without a sandbox if none is available: the agent's own tools reach everything")
    .examples(
      'hopgate acp -- claude-agent-acp',
      'hopgate acp --root ~/mine --peripheral explore -- codex-acp',
      'hopgate acp --approve execute -- npx @agentclientprotocol/claude-agent-acp',
    )
    .action(async (words: string[], options) => {
      // Loaded only here: the SDK is large, and no other command needs it.
      const { serveAcp } = await import('../../acp/serve-acp.ts');
      await serveAcp(io, options, words);
    });
}
