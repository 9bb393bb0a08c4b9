import { findSessionIn } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { Io } from '../../io.ts';
import { resolveRootOption, rootOption } from '../../shared-options.ts';
import { DEFAULT_HTTP_PORT, serveHttpUntilSignal } from '../clients/serve.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Opens the live view of a session in the browser, logged in as the operator. If "hopgate serve" does not run, this command serves the view until Ctrl-C.',
    )
    .argument('<session>', 'the id of the session, or its first characters')
    .addOption(rootOption())
    .examples('hopgate watch s-4f1c')
    .action((session: string, options: { readonly root: string }) => watch(io, session, options));
}

async function watch(io: Io, id: string, options: { readonly root: string }): Promise<void> {
  const { sessionId: session } = await findSessionIn(io, resolveRootOption(io, options), id);
  await serveHttpUntilSignal(io, { port: DEFAULT_HTTP_PORT, open: true, session });
}
