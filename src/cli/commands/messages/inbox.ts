import { setTimeout as sleep } from 'node:timers/promises';
import { renderMessages } from '../../../messages/render-messages.ts';
import type { MessageStore } from '../../../ports/message-store.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, print, printJsonLine } from '../../io.ts';
import { type PersonOptions, personOption, withPersonInboxes } from '../../messages/person-option.ts';
import { rootOption } from '../../shared-options.ts';

interface Options extends PersonOptions {
  readonly follow?: true;
  readonly all?: true;
  readonly keep?: true;
  readonly ack?: string;
}

/** Polling interval of `--follow`, in milliseconds. */
const POLL_MS = 200;

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      "Prints a person's unread messages in the order of the inbox, and marks them as read. With --json, one message per line.",
    )
    .addOption(rootOption())
    .addOption(personOption())
    .option('--follow', 'keep printing new messages')
    .option('--all', 'also print the messages that were read')
    .option('--keep', 'do not mark them as read')
    .option('--ack <id>', 'print nothing, and mark this message as read')
    .examples('hopgate inbox', 'hopgate inbox --follow --json', 'hopgate inbox --as joe --all')
    .action((options: Options) => withPersonInboxes(io, options, (messages) => show(io, messages, options)));
}

async function show(io: Io, messages: MessageStore, options: Options): Promise<void> {
  const { ack } = options;
  if (ack !== undefined) {
    const message = await messages.find(ack);
    if (message?.to !== `person:${options.as}`)
      throw new CliError('unknown-message', `"${ack}" is not in this inbox`, 'List them with "hopgate inbox --all".');
    await messages.mark(ack, 'read');
    return;
  }
  const unread = options.all === undefined;
  let after = 0;
  for (;;) {
    const fresh = await messages.inbox(`person:${options.as}`, { after, unread, limit: 1000 });
    for (const message of fresh) {
      if (io.json) printJsonLine(io, message);
      else print(io, renderMessages([message]));
      after = message.seq;
    }
    if (options.keep === undefined) await Promise.all(fresh.map(({ id }) => messages.mark(id, 'read')));
    if (fresh.length > 0) continue;
    if (!options.follow) {
      if (after === 0 && !io.json) print(io, 'No messages.');
      return;
    }
    await sleep(POLL_MS);
  }
}
