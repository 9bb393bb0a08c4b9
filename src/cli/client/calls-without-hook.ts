import { readFileSync } from 'node:fs';
import { readClaudeTranscript, subAgentTranscriptPath } from '../../adapters/claude-code/claude-transcript.ts';
import { codexToolName } from '../../adapters/codex/codex-texts.ts';
import { readCallsInCodexLog } from '../../adapters/codex/ran-calls.ts';
import type { LoggedClientCall } from '../../adapters/core/client-log.ts';
import { transcriptPath } from '../../adapters/core/transcript/transcript-file.ts';
import { type RecordedTranscriptItem, toolCallItem } from '../../adapters/core/transcript/transcript-items.ts';
import { fieldsOf } from '../../base/json.ts';
import { plural } from '../../base/text.ts';
import { valueOr } from '../../base/value-or.ts';
import { ConversationFiles, type StoredConversation } from '../../daemon/conversation-files.ts';
import { mcpServerName } from '../../daemon/mcp-server-name.ts';
import { canonicalJson } from '../../evidence/canonical.ts';
import { parseTranscript, type Transcript } from '../../evidence/transcript.ts';
import { stateDir } from '../../project/state-dir.ts';
import type { Json } from '../../spec/types.ts';
import type { Io } from '../io.ts';

/**
 * The calls of a session that Claude Code's or Codex's own transcript contains and that no hook reported: they bypassed
 * the session. Empty if the client has deleted its transcript.
 * @param recorded the transcript that the hooks recorded
 */
export function findCallsWithoutHook(
  root: string,
  env: Io['env'],
  sessionId: string,
  recorded: Transcript,
): readonly RecordedTranscriptItem[] {
  const allRecords = ConversationFiles.existing(root, env)?.all() ?? [];
  const records = allRecords.filter((record) => record.sessionId === sessionId);
  const recordedIds = new Set(
    recorded.items.flatMap((item) => (item.kind === 'call' || item.kind === 'inner' ? [item.callId] : [])),
  );
  const begun = recorded.items[0]?.at ?? '';
  const isNew = ({ id, at }: { readonly id: string; readonly at: string }) => at >= begun && !recordedIds.has(id);
  const ofClaude = records
    .filter(({ conversation }) => conversation.client === 'claude-code')
    .flatMap((record) => readClaudeTranscript(transcriptFile(record, allRecords)).ran)
    .filter(isNew);
  const files = records.flatMap(({ conversation, notes }) =>
    conversation.client === 'codex' && typeof notes['transcript'] === 'string' ? [notes['transcript']] : [],
  );
  const ofCodex = [...new Set(files)].flatMap(readCallsInCodexLog).filter(isNew);
  return [...ofClaude, ...notReceived(ofCodex, recorded, env)].map(({ id, tool, input }) =>
    toolCallItem({ id, tool, input, channel: "the client's own transcript" }, true),
  );
}

/**
 * Excludes calls that hopgate's MCP server received: each received call excludes one call with the same tool and
 * arguments.
 */
function notReceived(
  ran: readonly LoggedClientCall[],
  recorded: Transcript,
  env: Io['env'],
): readonly LoggedClientCall[] {
  if (ran.length === 0) return [];
  const own = codexToolName({ server: mcpServerName(env) });
  const keyOf = (tool: string, input: unknown) => {
    const { seconds, ...rest } = fieldsOf(input);
    // The server shortens the wait of a whistle, so the received arguments differ from the sent ones.
    return `${tool} ${canonicalJson((tool === own('whistle') ? rest : (input ?? {})) as Json)}`;
  };
  const received = new Map<string, number>();
  for (const item of recorded.items)
    if (item.kind === 'call') {
      const key = keyOf(own(item.tool), item.input);
      received.set(key, (received.get(key) ?? 0) + 1);
    }
  return ran.filter(({ tool, input }) => {
    // Codex writes `_` for `-` in the names that only a model sees.
    const key = keyOf(tool.replaceAll('-', '_'), input);
    const remaining = received.get(key) ?? 0;
    received.set(key, remaining - 1);
    return remaining <= 0;
  });
}

/** The transcript that the hooks recorded for a session; an empty one if none exists. */
export const readHookTranscript = (root: string, env: Io['env'], sessionId: string): Transcript =>
  valueOr(() => parseTranscript(readFileSync(transcriptPath(stateDir(root, env), sessionId), 'utf8')), {
    items: [],
    problems: [],
  });

/** A warning that names the tools of calls without a hook; null if there are none. */
export function callsWithoutHookWarning(client: string, calls: readonly RecordedTranscriptItem[]): string | null {
  const tools = new Set(calls.map((item) => (item.kind === 'call' ? item.tool : item.kind)));
  return calls.length === 0
    ? null
    : `${client} ran ${plural(calls.length, 'call')} that no hook reported (${[...tools].join(', ')}): they were neither checked nor observed.`;
}

function transcriptFile({ conversation, notes }: StoredConversation, records: readonly StoredConversation[]): string {
  const { id, agentId } = conversation;
  if (agentId === null) return String(notes['transcript'] ?? '');
  const main = records.find(({ conversation: other }) => other.agentId === null && other.id === id);
  return subAgentTranscriptPath(String(main?.notes['transcript'] ?? ''), id, agentId);
}
