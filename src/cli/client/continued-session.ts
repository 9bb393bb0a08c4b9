import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ConversationFiles } from '../../daemon/conversation-files.ts';
import type { Io } from '../io.ts';

/** The conversation that a client program continues: a conversation by its id, or the program's last one. */
export type ContinuedConversation = { readonly id: string } | 'last';

/** A conversation id of Claude Code or Codex. */
export const isConversationId = (word = ''): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(word);

/** The id of the session in which a conversation was held; null if it was held without hopgate. */
export function findContinuedSessionId(
  io: Io,
  root: string,
  client: 'claude-code' | 'codex',
  continued: ContinuedConversation,
): string | null {
  const main = new ConversationFiles(root, io.env)
    .all()
    .filter(({ conversation, parent }) => conversation.client === client && parent === null);
  const transcripts = main.flatMap(({ notes }) => (typeof notes['transcript'] === 'string' ? notes['transcript'] : []));
  const id = continued === 'last' ? lastIn(transcripts[0]) : continued.id;
  const record =
    continued === 'last' && id === null ? main[0] : main.find(({ conversation }) => conversation.id === id);
  return record?.sessionId ?? null;
}

/** The id of the newest transcript next to this one, from its name (Codex: the time and the id); null without one. */
function lastIn(transcript: string | undefined): string | null {
  if (transcript === undefined) return null;
  const folder = dirname(transcript);
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
    const times = files.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs }));
    const [newest] = times.sort((a, b) => b.at - a.at);
    const name = basename(newest?.name ?? '', '.jsonl');
    return newest ? (/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(name)?.[0] ?? name) : null;
  } catch {
    return null;
  }
}
