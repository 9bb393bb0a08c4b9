import { textOf } from '../../base/json.ts';
import type { Env } from '../../base/user-folders.ts';
import type { ConversationRecord, HookContext } from '../core/hook-context.ts';
import { assistantMessageItem } from '../core/transcript/transcript-items.ts';
import type { ClaudeHookEvent } from './claude-event.ts';
import { readClaudeTranscript } from './claude-transcript.ts';

/** The arguments of a hook handler: the event, the record of its conversation, and the services. */
export interface HookEventContext<E extends ClaudeHookEvent = ClaudeHookEvent> {
  readonly event: E;
  readonly record: ConversationRecord;
  readonly host: HookContext;
  /** The environment of the hook process. */
  readonly env: Env;
}

/**
 * Event names recorded per tool call, derived from the client's own: allowed, allowed and mutating, denied, done,
 * failed, refused by the client after hopgate had allowed it, missing result.
 */
export const HOOK_EVENT_NAMES = {
  allowed: 'PreToolUse',
  acting: 'PreToolUse (acting)',
  denied: 'PreToolUse (denied)',
  done: 'PostToolUse',
  failed: 'PostToolUseFailure',
  refused: 'PostToolUse (refused by the client)',
  missing: 'PostToolUse (missing)',
} as const;

export const recordHookEvent = async (
  { host, record, event }: HookEventContext,
  name: string,
  notes?: ConversationRecord['notes'],
): Promise<ConversationRecord> =>
  host.recordEvent(record, { name, at: new Date().toISOString(), toolUseId: event.toolUseId }, notes);

/**
 * Appends the agent's new messages to its transcript. They come from Claude Code's transcript file, after the last
 * offset that was read, and from the event, which carries the last message.
 * @returns the notes to store
 */
export function recordAgentMessages({ host, record, event }: HookEventContext): ConversationRecord['notes'] {
  const last = textOf(event.fields['last_assistant_message']);
  const file = textOf(event.fields[event.name === 'SubagentStop' ? 'agent_transcript_path' : 'transcript_path']);
  const { heard: readUntil } = record.notes;
  const { texts: words, end } = readClaudeTranscript(file ?? '', typeof readUntil === 'number' ? readUntil : 0);
  const all = last === null || words.at(-1) === last ? words : [...words, last];
  if (all.length > 0) host.recordTranscript(record, ...all.map(assistantMessageItem));
  return { ...record.notes, heard: end };
}
