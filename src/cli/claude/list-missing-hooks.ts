import { ConversationFiles, type StoredConversation } from '../../daemon/conversation-files.ts';
import type { Io } from '../io.ts';

/** An event of a client program that no hook reported. A later hook noticed the gap. */
interface MissingHook {
  readonly sessionId: string;
  readonly at: string;
  readonly text: string;
}

/** The events that no hook reported in a repository's conversations. Creates no state folder. */
export const listMissingHooksOfRoot = (root: string, env: Io['env']): readonly MissingHook[] =>
  ConversationFiles.existing(root, env)?.all().flatMap(missingHooksOfSession) ?? [];

export function missingHooksOfSession({ sessionId, notes }: StoredConversation): readonly MissingHook[] {
  const { silent } = notes;
  if (!Array.isArray(silent)) return [];
  return silent.flatMap((item) => {
    const { at, text } = item as { at?: unknown; text?: unknown };
    return typeof at === 'string' && typeof text === 'string' ? [{ sessionId, at, text }] : [];
  });
}
