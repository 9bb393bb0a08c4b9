import { checkMessage, type MessageProblem, type UncheckedMessage } from '../../messages/send-message.ts';
import type { Message, MessageDraft, MessageStore } from '../../ports/message-store.ts';
import type { EvidenceOfAllRepositories, RepositoryEvidence } from '../all-evidence.ts';
import { ApiError } from '../api-error.ts';

export const messageStoreOf = ({ store, key }: RepositoryEvidence): MessageStore => {
  if (store.messages) return store.messages;
  throw new ApiError('store-failed', `the store of repository ${key} has no inboxes`, 'Use the SQLite store.');
};

export const apiErrorOfMessage = ({ argument, message, remedy }: MessageProblem): ApiError =>
  new ApiError('invalid-request', message, remedy, `body.${argument}`);

/** Finds a message in the inboxes of all repositories. @throws ApiError `unknown-message` */
export async function findMessage(
  allEvidence: EvidenceOfAllRepositories,
  id: string,
): Promise<{ readonly message: Message; readonly messages: MessageStore; readonly repository: RepositoryEvidence }> {
  for (const repository of allEvidence.repositories()) {
    const messages = messageStoreOf(repository);
    const message = await messages.find(id);
    if (message) return { message, messages, repository };
  }
  throw unknownMessageError(id);
}

export const unknownMessageError = (id: string): ApiError =>
  new ApiError('unknown-message', `there is no message "${id}" here`, 'Take the id from an inbox.');

/** A message with its receipts and its first answer. */
export async function readMessageWithReceipts(messages: MessageStore, message: Message) {
  const receipts = await messages.receipts(message.from, 0, message.id);
  return {
    message,
    receipts: receipts.map(({ state, at }) => ({ state, at })),
    answer: await messages.answerTo(message.id),
  };
}

/**
 * Checks a person's message, and finds the repository that has its recipient. For a recipient on another machine, it is
 * the first repository from which the message may be sent.
 * @throws ApiError `invalid-request`
 */
export async function checkPersonDraft(
  repositories: readonly RepositoryEvidence[],
  post: Omit<UncheckedMessage, 'to'> & { readonly to?: unknown },
): Promise<{ readonly messages: MessageStore; readonly draft: MessageDraft }> {
  const found: { messages: MessageStore; draft: MessageDraft }[] = [];
  let refusal: MessageProblem | null = null;
  for (const repository of repositories) {
    const messages = messageStoreOf(repository);
    const to = post.to ?? (await findSenderOfMessage(messages, post.ref));
    const checked = await checkMessage(repository.store, messages, { ...post, to });
    if (checked.ok) found.push({ messages, draft: checked.draft });
    else refusal ??= checked;
  }
  const [first, second] = found;
  if (second && !first!.draft.to.includes('@'))
    throw new ApiError(
      'invalid-request',
      `${found.length} repositories have the address ${first!.draft.to}`,
      'Name the repository as "root".',
      'body.root',
    );
  if (first) return first;
  if (refusal) throw apiErrorOfMessage(refusal);
  throw new ApiError('invalid-request', 'no session has an inbox yet', 'Open a session first.', 'body.root');
}

/** The address of the sender of a message, to which an answer goes; undefined if there is no such message. */
export const findSenderOfMessage = async (messages: MessageStore, ref: unknown): Promise<string | undefined> =>
  typeof ref === 'string' ? (await messages.find(ref))?.from : undefined;

/** The response to a whistle whose deadline has passed. `job` is the whistle's id: the late answer is found by it. */
export const noAnswerInTimeResponse = (job: string, seconds: number, under = '/v1', more: object = {}): Response =>
  Response.json(
    {
      ok: false,
      ...new ApiError(
        'no-answer',
        `no answer came within ${seconds} s`,
        'The answer will arrive as a message; "status-url" shows it.',
      ).toJSON(),
      job,
      'status-url': `${under}/messages/${job}`,
      ...more,
    },
    { status: 504 },
  );
