import { randomUUID } from 'node:crypto';
import { Option } from 'commander';
import { checkMessage, type MessageProblem, type UncheckedMessage } from '../../messages/send-message.ts';
import { ensureOperatorToken } from '../../operator/operator-token.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { MessageDraft, MessageStore } from '../../ports/message-store.ts';
import { ensureStateDir } from '../../project/state-dir.ts';
import { withExistingSessions } from '../choose-sessions.ts';
import { CliError, type Io, usageError } from '../io.ts';
import { type RootOption, resolveRootOption } from '../shared-options.ts';

export interface PersonOptions extends RootOption {
  readonly as: string;
}

/** Makes `--as NAME`, the person whose inbox is used. */
export const personOption = (): Option =>
  new Option('--as <name>', 'the person who sends or reads').default('operator', 'operator');

const NAME = /^[a-z][a-z0-9-]*$/;

/**
 * Opens the inboxes of a repository for a person. The caller must be able to read the operator's token.
 * @throws CliError `invalid-name`, `no-sessions`
 */
export async function withPersonInboxes<T>(
  io: Io,
  options: PersonOptions,
  use: (messages: MessageStore, store: EvidenceStore) => Promise<T>,
): Promise<T> {
  if (!NAME.test(options.as))
    throw usageError(
      `"${options.as}" is not a person's name`,
      'Use lowercase letters, digits and "-".',
      'invalid-name',
    );
  const root = resolveRootOption(io, options);
  ensureOperatorToken(ensureStateDir(root, io.env));
  const none = new CliError('no-sessions', 'there is no session here yet', 'Start one, such as "hopgate claude".');
  const useMessages = async (store: EvidenceStore): Promise<T> => {
    if (!store.messages) throw none;
    await store.messages.addPerson(options.as);
    return use(store.messages, store);
  };
  return withExistingSessions(io, root, useMessages, 'write', none);
}

/** Checks a message of a person. @throws CliError `invalid-message` */
export async function checkPersonMessage(
  store: EvidenceStore,
  messages: MessageStore,
  options: PersonOptions,
  post: Omit<UncheckedMessage, 'id' | 'from'>,
): Promise<MessageDraft> {
  const message = { ...post, id: `m-${randomUUID()}`, from: `person:${options.as}` };
  const checked = await checkMessage(store, messages, message);
  if (!checked.ok) throw invalidMessageError(checked);
  return checked.draft;
}

export const invalidMessageError = ({ message, remedy }: MessageProblem): CliError =>
  new CliError('invalid-message', message, remedy);
