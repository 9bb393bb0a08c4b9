import { readClientLog } from '../core/client-log.ts';

/** What the agent said in a conversation, as Codex itself wrote it down, from some byte on; `end`: how far that was. */
export function ownWords(file: string, from = 0): { readonly said: readonly string[]; readonly end: number } {
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
