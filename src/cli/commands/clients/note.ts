import { sendOperatorAct } from '../../../daemon/remote-agent-session.ts';
import { findSessionIn } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, printResult } from '../../io.ts';
import { resolveRootOption, rootOption } from '../../shared-options.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Writes a note to the agent of a session. Its evidence keeps the note, and a running Claude Code or Codex reads it with its next call or turn.',
    )
    .argument('<session>', 'the id of the session, or its first characters')
    .argument('<words...>', 'the note')
    .addOption(rootOption())
    .examples('hopgate note s-4f1c "use the new API, not the old one"')
    .action((session: string, words: readonly string[], options: { readonly root: string }) =>
      send(io, session, words.join(' '), options),
    );
}

async function send(io: Io, id: string, text: string, options: { readonly root: string }): Promise<void> {
  const root = resolveRootOption(io, options);
  const session = await findSessionIn(io, root, id);
  await sendOperatorAct({ op: 'note', root, session: session.sessionId, text }, io.env);
  const written = `Written to ${session.agent}; it reads the note with its next call or turn.`;
  printResult(io, { session: session.sessionId, text }, written);
}
