import type { ModelMessage } from 'ai';

type Part = Exclude<ModelMessage['content'], string>[number];

const partsOf = (messages: readonly ModelMessage[]): readonly Part[] =>
  messages.flatMap(({ content }): readonly Part[] => (typeof content === 'string' ? [] : content));

/** The approval requests that the last message answers. Answers in earlier messages have been used already. */
function requestsAnswered(messages: readonly ModelMessage[], approved: boolean) {
  const ids = new Set(
    partsOf(messages.slice(-1)).flatMap((part) =>
      part.type === 'tool-approval-response' && part.approved === approved ? [part.approvalId] : [],
    ),
  );
  return partsOf(messages).flatMap((part) =>
    part.type === 'tool-approval-request' && ids.has(part.approvalId) ? [part] : [],
  );
}

export const findApprovedRequest = (
  messages: readonly ModelMessage[],
  id: string,
): { readonly reason?: string } | undefined =>
  requestsAnswered(messages, true).find(({ toolCallId }) => toolCallId === id);

export function findRefusedCalls(messages: readonly ModelMessage[]) {
  const ids = new Set(requestsAnswered(messages, false).map(({ toolCallId }) => toolCallId));
  return partsOf(messages).flatMap((part) => (part.type === 'tool-call' && ids.has(part.toolCallId) ? [part] : []));
}

/** Reads the hash of the request that the person saw: the last line of the approval's reason. */
export const readRequestHash = (reason: string | undefined): string | undefined =>
  /\nsha256 ([0-9a-f]{64})$/.exec(reason ?? '')?.[1];
