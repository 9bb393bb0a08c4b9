import { realpathSync } from 'node:fs';
import { z } from 'zod';
import type { Env } from '../../base/user-folders.ts';
import { repositoryOfFolder } from '../../project/repository-root.ts';
import type { ClientConversation } from '../core/hook-context.ts';

const ToolCall = { tool_name: z.string().min(1), tool_input: z.unknown(), tool_use_id: z.string().min(1) };

const LastMessage = { last_assistant_message: z.string().nullish(), agent_transcript_path: z.string().nullish() };

const Base = z.object({
  session_id: z.string().min(1),
  cwd: z.string().min(1),
  agent_id: z.string().min(1).optional(),
  transcript_path: z.string().nullish(),
});

/** The fields of Codex's hook events that hopgate reads. Codex may add fields. */
const Event = z.discriminatedUnion('hook_event_name', [
  Base.extend({ hook_event_name: z.literal('SessionStart'), source: z.string().optional() }),
  Base.extend({ hook_event_name: z.literal('UserPromptSubmit'), prompt: z.string().optional() }),
  Base.extend({ hook_event_name: z.literal('PreToolUse'), ...ToolCall }),
  Base.extend({ hook_event_name: z.literal('PostToolUse'), ...ToolCall, tool_response: z.unknown() }),
  Base.extend({ hook_event_name: z.literal('SubagentStart') }),
  Base.extend({ hook_event_name: z.literal('SubagentStop'), ...LastMessage }),
  Base.extend({ hook_event_name: z.literal('Stop'), stop_hook_active: z.boolean().optional(), ...LastMessage }),
]);
export type CodexHookEvent = z.output<typeof Event>;
export type CodexToolEvent = Extract<CodexHookEvent, { tool_name: string }>;

/** @throws Error if it is not an event that hopgate's hooks are registered for */
export function readCodexEvent(event: unknown): CodexHookEvent {
  const read = Event.safeParse(event);
  if (read.success) return read.data;
  throw new Error(`Codex sent an event that hopgate does not know: ${z.prettifyError(read.error)}`);
}

/**
 * The conversation of an event. Its repository is the one that HOPGATE_ROOT names, or else the repository of Codex's
 * working folder.
 */
export function conversationOfCodexEvent({ session_id, agent_id, cwd }: CodexHookEvent, env: Env): ClientConversation {
  const named = env['HOPGATE_ROOT'];
  const root = named ? realpathSync(named) : repositoryOfFolder(realpathSync(cwd));
  return { client: 'codex', id: session_id, agentId: agent_id ?? null, root };
}
