import { Option } from 'commander';
import { approveOption } from '../../approve/approve-option.ts';
import { waitApprovalOption } from '../../approve/wait-approval.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { Io } from '../../io.ts';
import { MCP_TOKEN_VARIABLE, type McpCommand } from '../../mcp/mcp-command.ts';
import { observeOption, parseAgentOption, rootOption, telemetryOption } from '../../shared-options.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Opens a session and serves it over the Model Context Protocol: the tools of the current peripheral, and hop, mode, status and why. The list of tools changes with every hop. A call of a tool that is not available is refused, and the refusal names the path to it. If the client can ask its user, it asks for approvals; otherwise they wait for "hopgate approve". Uses stdin and stdout unless --http is given, and logs to stderr.',
    )
    .addOption(rootOption())
    .addOption(
      new Option('--attach', 'use the session of the hooks of this client program').conflicts(
        'session peripheral specs approve waitApproval observe unsafeNoSandbox'.split(' '),
      ),
    )
    .option('--session <id>', 'continue this session')
    .option('--agent <id>', "the agent's id", parseAgentOption, 'mcp')
    .option('--peripheral <id>', 'the first peripheral of a new session (default: one with tools that admits a start)')
    .option('--specs <dir>', 'the spec set of a new session')
    .addOption(approveOption())
    .addOption(waitApprovalOption())
    .option('--no-elicit', 'never ask the user of the client; only the operator approves')
    .option('--upstream-names', 'offer tools of other MCP servers under their original names')
    .option('--http [address]', 'serve over Streamable HTTP at this local port, or address and port')
    .option('--allow-host <names...>', 'further host names at which --http may be reached')
    .addOption(telemetryOption().conflicts('attach'))
    .addOption(observeOption())
    .option('--unsafe-no-sandbox', 'run shell tools without a sandbox if none is available; every entry records that')
    .examples(
      'hopgate mcp --root ~/mine --agent claude',
      'hopgate mcp --session s-4f1c',
      `${MCP_TOKEN_VARIABLE}=… hopgate mcp --http 8123`,
    )
    .action(async (options: McpCommand) => {
      // Loaded only here: the SDK is large, and no other command needs it.
      const { serveMcp } = await import('../../mcp/serve-mcp.ts');
      await serveMcp(io, options);
    });
}
