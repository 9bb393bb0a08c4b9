import { Option } from 'commander';
import { sendBell } from '../../../messages/send-message.ts';
import { SPEECH_ACTS } from '../../../messages/speech-acts.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, printResult } from '../../io.ts';
import {
  checkPersonMessage,
  type PersonOptions,
  personOption,
  withPersonInboxes,
} from '../../messages/person-option.ts';
import { rootOption } from '../../shared-options.ts';

interface Options extends PersonOptions {
  readonly act?: string;
  readonly ref?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Sends a message to a session, an agent or a person, and does not wait. An agent gets the message in its next turn.',
    )
    .argument('<to>', 'session:<id>, agent:<id> or person:<name>; a name alone if only one has it')
    .argument('<text...>', 'the message')
    .addOption(rootOption())
    .addOption(personOption())
    .addOption(new Option('--act <act>', 'what the message does').choices(Object.keys(SPEECH_ACTS)))
    .option('--ref <id>', 'the message that this one answers or is about')
    .examples('hopgate bell claude-code "Check the cabinet."', 'hopgate bell agent:codex Yes --act answer --ref m-01')
    .action(async (to: string, words: readonly string[], options: Options) => {
      const { act, ref } = options;
      const message = await withPersonInboxes(io, options, async (messages, store) =>
        sendBell(
          messages,
          await checkPersonMessage(store, messages, options, { kind: 'bell', to, text: words.join(' '), act, ref }),
        ),
      );
      printResult(io, message, `Sent ${message.id} to ${message.to}.`);
    });
}
