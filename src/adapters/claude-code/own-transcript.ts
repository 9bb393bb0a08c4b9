import { dirname, join } from 'node:path';
import { fieldsOf, textOf } from '../../base/json.ts';
import { clientTool } from '../core/calls/client-tools.ts';
import { readClientLog } from '../core/client-log.ts';

type Fields = { readonly [name: string]: unknown };

/** What Claude Code itself wrote down of a conversation. */
export interface OwnTranscript {
  /** The agent's words, in order. */
  readonly said: readonly string[];
  /** Calls of its own tools that ran and could reach something. */
  readonly ran: readonly RanCall[];
  /** How far it was read, in bytes: to the end of the last whole line. */
  readonly end: number;
}

export interface RanCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  /** ISO 8601. */
  readonly at: string;
}

/** Where Claude Code writes a sub-agent's conversation, beside that of its parent. */
export const subAgentTranscript = (parent: string, conversation: string, agentId: string): string =>
  join(dirname(parent), conversation, 'subagents', `agent-${agentId}.jsonl`);

/** Reads a conversation from some byte on. What is not there, or not in the form that this version knows, tells nothing. */
export function readOwnTranscript(file: string, from = 0): OwnTranscript {
  const { entries, end } = readClientLog(file, from);
  const said: string[] = [];
  const uses = new Map<string, Omit<RanCall, 'at'>>();
  const ran: RanCall[] = [];
  for (const entry of entries) {
    const { role, content } = fieldsOf(entry['message']);
    const blocks = Array.isArray(content) ? content.map((block) => fieldsOf(block)) : [];
    if (role === 'assistant') {
      for (const block of blocks) {
        const words = block['type'] === 'text' ? textOf(block['text']) : null;
        if (words !== null) said.push(words);
        const [id, tool] = [textOf(block['id']), textOf(block['name'])];
        if (block['type'] === 'tool_use' && id && tool) uses.set(id, { id, tool, input: block['input'] });
      }
    } else if (role === 'user')
      for (const block of blocks) {
        const use = uses.get(textOf(block['tool_use_id']) ?? '');
        if (use && block['type'] === 'tool_result' && hasRun(block) && reaches(use.tool))
          ran.push({ ...use, at: textOf(entry['timestamp']) ?? '' });
      }
  }
  return { said, ran, end };
}

/** What Claude Code answered in the place of a call that it did not run, by the call's id: the user's rules, or the user, said no. */
export function refusedCalls(file: string): ReadonlyMap<string, string> {
  const { entries } = readClientLog(file);
  const blocks = entries.flatMap((entry) => {
    const { content } = fieldsOf(entry['message']);
    return Array.isArray(content) ? content.map((block) => fieldsOf(block)) : [];
  });
  return new Map(
    blocks.flatMap((block) => {
      const id = textOf(block['tool_use_id']);
      return id !== null && block['type'] === 'tool_result' && !hasRun(block) ? [[id, wordsOf(block)] as const] : [];
    }),
  );
}

/** What reaches nothing need not be decided. */
const reaches = (tool: string): boolean => clientTool('claude-code', tool)?.kind !== 'inner';

/** An error may stand for a call that never ran; one of a command that ended with a status does not. */
const hasRun = (block: Fields): boolean => block['is_error'] !== true || wordsOf(block).startsWith('Exit code ');

function wordsOf({ content }: Fields): string {
  const [first] = Array.isArray(content) ? content : [];
  return textOf(content) ?? textOf(fieldsOf(first)['text']) ?? '';
}
