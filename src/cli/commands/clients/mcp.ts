import { type Command, Option } from 'commander';
import { approveOption } from '../../approve/approve-option.ts';
import { waitApprovalOption } from '../../approve/pending-at.ts';
import type { Io } from '../../io.ts';
import { type McpCommand, TOKEN_VARIABLE } from '../../mcp/command.ts';
import { examples, rootOption } from '../../options.ts';

export function register(program: Command, io: Io): void {
  program
    .command('mcp')
    .summary('serve a session to an MCP client')
    .description(
      'Opens a session and serves it over the Model Context Protocol: the tools of the peripheral that it is in, and hop, mode, status and why. The list\nof tools changes with every hop. A call of what is not there is refused with the way to it. Approvals are asked of the person at the client where\nthe client can ask, else they wait for "hopgate approve". Speaks on stdin and stdout unless --http is given; says what it does on stderr.',
    )
    .addOption(rootOption())
    .addOption(
      new Option('--attach', 'work in the session that the hooks of this client program work in').conflicts([
        ...['session', 'peripheral', 'specs', 'approve', 'waitApproval', 'unsafeNoSandbox'],
      ]),
    )
    .option('--session <id>', 'go on with this session')
    .option('--agent <id>', "the agent's id", 'mcp')
    .option('--peripheral <id>', 'where a new session starts; by default the first one with tools that admits it')
    .option('--specs <dir>', 'the spec set of a new session')
    .addOption(approveOption())
    .addOption(waitApprovalOption())
    .option('--no-elicit', 'never ask the person at the client; only the operator approves')
    .option('--upstream-names', 'offer what other MCP servers do under the names that it has there')
    .option('--http [address]', 'serve over Streamable HTTP at this port, or address and port, of this machine')
    .option('--allow-host <names...>', 'further names under which --http may be reached')
    .option('--unsafe-no-sandbox', 'run shell tools without a sandbox where there is none; every entry says so')
    .addHelpText(
      'after',
      examples(
        'hopgate mcp --root ~/mine --agent claude',
        'hopgate mcp --session s-4f1c',
        `${TOKEN_VARIABLE}=… hopgate mcp --http 8123`,
      ),
    )
    .action(async (options: McpCommand) => {
      // Loaded only here: the SDK is large, and no other command needs it.
      const { serveMcp } = await import('../../mcp/serve.ts');
      await serveMcp(io, options);
    });
}
