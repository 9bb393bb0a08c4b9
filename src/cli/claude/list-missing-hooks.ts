import { ConversationFiles, type StoredConversation } from '../../daemon/conversation-files.ts';
import type { Io } from '../io.ts';

/** An event that a client program's hooks should have reported but did not, as later hooks noticed. */
export interface Noticed {
  readonly sessionId: string;
  readonly at: string;
  readonly text: string;
}

/** The missing hooks noticed in a repository's conversations. Creates no folder if there were no conversations. */
export function missingHooks(root: string, env: Io['env']): readonly Noticed[] {
  return ConversationFiles.existing(root, env)?.all().flatMap(noticedIn) ?? [];
}

export function noticedIn({ sessionId, notes }: StoredConversation): readonly Noticed[] {
  const { silent } = notes;
  if (!Array.isArray(silent)) return [];
  return silent.flatMap((item) => {
    const { at, text } = item as { at?: unknown; text?: unknown };
    return typeof at === 'string' && typeof text === 'string' ? [{ sessionId, at, text }] : [];
  });
}
