import { type Fields, fieldsOf, textOf } from '../../base/json.ts';
import type { Json } from '../../spec/types.ts';

/** An event, as Claude Code writes it to a hook's standard input. */
export interface ClaudeHookEvent {
  /** `hook_event_name`. */
  readonly name: string;
  /** The client's own `session_id`. A sub-agent has the `session_id` of its parent. */
  readonly conversation: string;
  /** `agent_id`; null for the main agent. */
  readonly agentId: string | null;
  /** `tool_use_id`; null if the event is not about a call. */
  readonly toolUseId: string | null;
  readonly fields: Fields;
}

/** An event about a call of one of the client's tools. */
export interface ClaudeToolEvent extends ClaudeHookEvent {
  readonly toolUseId: string;
  readonly tool: string;
  readonly input: Fields;
}

export function readClaudeEvent(raw: unknown): ClaudeHookEvent | null {
  const fields = fieldsOf(raw as Json);
  const name = textOf(fields['hook_event_name']);
  const conversation = textOf(fields['session_id']);
  if (name === null || conversation === null) return null;
  const agentId = fields['agent_id'];
  // If the id is unreadable, the call is refused: the sub-agent would otherwise get its parent's envelope.
  if (agentId !== undefined && agentId !== null && textOf(agentId) === null) return null;
  return { name, conversation, agentId: textOf(agentId), toolUseId: textOf(fields['tool_use_id']), fields };
}

/** Reads an event about a tool call; null if the event names no tool or no call id. */
export function toClaudeToolEvent(event: ClaudeHookEvent): ClaudeToolEvent | null {
  const tool = textOf(event.fields['tool_name']);
  const { toolUseId } = event;
  if (tool === null || toolUseId === null) return null;
  return { ...event, toolUseId, tool, input: fieldsOf(event.fields['tool_input']) };
}
