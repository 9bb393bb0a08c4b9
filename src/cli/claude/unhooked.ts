import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnTranscript, subAgentTranscript } from '../../adapters/claude-code/own-transcript.ts';
import { transcriptPath } from '../../adapters/core/transcript/transcript-file.ts';
import { type Item, toolCall } from '../../adapters/core/transcript/transcript-items.ts';
import { ConversationFiles, type StoredConversation } from '../../daemon/conversation-files.ts';
import { parseTranscript, type Transcript } from '../../evidence/transcript.ts';
import { stateDir } from '../../project/state-dir.ts';
import type { Io } from '../io.ts';

/**
 * Calls that Claude Code's own transcript says it ran in a session, but that no hook reported: they bypassed the
 * session. Known only while Claude Code keeps that transcript.
 *
 * @param recorded the transcript that the hooks recorded
 */
export function unhooked(root: string, env: Io['env'], sessionId: string, recorded: Transcript): readonly Item[] {
  if (!existsSync(join(stateDir(root, env), 'seats'))) return [];
  const records = new ConversationFiles(root, env).all();
  const known = new Set(
    recorded.items.flatMap((item) => (item.kind === 'call' || item.kind === 'inner' ? [item.callId] : [])),
  );
  const begun = recorded.items[0]?.at ?? '';
  return records
    .filter((record) => record.sessionId === sessionId && record.conversation.client === 'claude-code')
    .flatMap((record) => readOwnTranscript(ownFile(record, records)).ran)
    .filter(({ id, at }) => at >= begun && !known.has(id))
    .map(({ id, tool, input }) => toolCall({ id, tool, input, channel: "the client's own transcript" }, true));
}

/** The hooks' transcript of a session; an empty one if none exists. */
export function recordedOf(root: string, env: Io['env'], sessionId: string): Transcript {
  try {
    return parseTranscript(readFileSync(transcriptPath(stateDir(root, env), sessionId), 'utf8'));
  } catch {
    return { items: [], problems: [] };
  }
}

function ownFile({ conversation, notes }: StoredConversation, records: readonly StoredConversation[]): string {
  const { id, agentId } = conversation;
  if (agentId === null) return String(notes['transcript'] ?? '');
  const main = records.find(({ conversation: other }) => other.agentId === null && other.id === id);
  return subAgentTranscript(String(main?.notes['transcript'] ?? ''), id, agentId);
}
