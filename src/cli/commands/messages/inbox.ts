import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReadStream } from 'node:tty';
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
  const isLeft = options.follow ? noticeEndOfStarter(io) : () => true;
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
    if (isLeft()) break;
    await sleep(POLL_MS);
  }
  if (!options.follow && after === 0 && !io.json) print(io, 'No messages.');
}

/**
 * Returns a function that returns true once the program that started this one has ended, such as a killed Emacs: its
 * pipe to stdin is closed, and this process has another parent. After `nohup`, stdin is not a pipe.
 */
function noticeEndOfStarter({ stdin }: Io): () => boolean {
  const starter = process.ppid;
  let inputEnded = false;
  const end = () => {
    inputEnded = true;
  };
  // A terminal is not read, because the system stops a program in the background that reads from its terminal.
  if (stdin instanceof Socket && !(stdin instanceof ReadStream)) stdin.once('close', end).on('error', end).resume();
  return () => inputEnded && process.ppid !== starter;
}
