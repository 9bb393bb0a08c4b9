import { readClientLog } from '../core/client-log.ts';

/** The agent's messages in Codex's log, from a byte offset. `end` is the offset after the last complete line. */
export function assistantMessages(file: string, from = 0): { readonly said: readonly string[]; readonly end: number } {
  const { entries, end } = readClientLog(file, from);
  const said = entries.flatMap(({ type, payload }) => {
    const { type: kind, role, content } = (payload ?? {}) as Item;
    if (type !== 'response_item' || kind !== 'message' || role !== 'assistant' || !Array.isArray(content)) return [];
    return (content as readonly (Item | null)[]).flatMap((part) =>
      part?.type === 'output_text' && typeof part.text === 'string' && part.text !== '' ? [part.text] : [],
    );
  });
  return { said, end };
}

interface Item {
  readonly type?: unknown;
  readonly role?: unknown;
  readonly content?: unknown;
  readonly text?: unknown;
}
