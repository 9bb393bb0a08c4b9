import { escapeInvisible, toShellWord } from '../../../base/text.ts';
import { sendWhistle } from '../../../messages/send-message.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, printResult } from '../../io.ts';
import {
  checkPersonMessage,
  invalidMessageError,
  type PersonOptions,
  personOption,
  withPersonInboxes,
} from '../../messages/person-option.ts';
import { onTerminationSignal } from '../../on-signal.ts';
import { numberParser, resolveRootOption, rootOption } from '../../shared-options.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Sends a message and waits for its answer. The deadline, or Ctrl-C, ends the wait, not the work: a late answer arrives in the inbox. Exit code 1 if no answer came.',
    )
    .argument('<to>', 'session:<id>, agent:<id> or person:<name>; a name alone if only one has it')
    .argument('<text...>', 'the question')
    .addOption(rootOption())
    .addOption(personOption())
    .option('--seconds <n>', 'how long to wait', numberParser(86_400), 60)
    .examples('hopgate whistle claude-code "Which port?" --seconds 120')
    .action(async (to: string, words: readonly string[], options: PersonOptions & { readonly seconds: number }) => {
      await withPersonInboxes(io, options, async (messages, store) => {
        const draft = await checkPersonMessage(store, messages, options, {
          kind: 'whistle',
          to,
          text: words.join(' '),
        });
        const interrupted = new AbortController();
        const stop = onTerminationSignal(() => interrupted.abort());
        const { seconds } = options;
        const result = await sendWhistle(messages, draft, { seconds, signal: interrupted.signal }).finally(stop);
        if (!result.ok) throw invalidMessageError(result);
        const { message, answer, waitedMs } = result;
        const inbox = `hopgate inbox --as ${options.as} --root ${toShellWord(resolveRootOption(io, options))}`;
        const text = answer?.text ?? `No answer to ${message.id} yet. A late answer arrives in the inbox: ${inbox}`;
        printResult(io, { job: message.id, answer, waitedMs }, escapeInvisible(text));
        if (answer) await messages.mark(answer.id, 'read');
        else io.exitCode = 1;
      });
    });
}
