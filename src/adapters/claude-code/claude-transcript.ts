import { dirname, join } from 'node:path';
import { fieldsOf, textOf } from '../../base/json.ts';
import { translateClientTool } from '../core/calls/client-tools.ts';
import { type LoggedClientCall, readClientLog } from '../core/client-log.ts';
import { clientFileOfCall } from './client-file.ts';

type Fields = { readonly [name: string]: unknown };

/** Path of a sub-agent's transcript file, in a folder next to its parent's file. */
export const subAgentTranscriptPath = (parent: string, conversation: string, agentId: string): string =>
  join(dirname(parent), conversation, 'subagents', `agent-${agentId}.jsonl`);

/**
 * Reads a transcript file from a byte offset: the agent's messages, the calls that ran (except Claude Code's
 * bookkeeping), and the offset after the last complete line. A missing file, and unknown entries, yield nothing.
 */
export function readClaudeTranscript(
  file: string,
  from = 0,
): { readonly texts: readonly string[]; readonly ran: readonly LoggedClientCall[]; readonly end: number } {
  const { entries, end } = readClientLog(file, from);
  const texts: string[] = [];
  const uses = new Map<string, Omit<LoggedClientCall, 'at'>>();
  const ran: LoggedClientCall[] = [];
  for (const entry of entries) {
    const { role } = fieldsOf(entry['message']);
    const blocks = blocksOf(entry);
    if (role === 'assistant') {
      for (const block of blocks) {
        const words = block['type'] === 'text' ? textOf(block['text']) : null;
        if (words !== null) texts.push(words);
        const [id, tool] = [textOf(block['id']), textOf(block['name'])];
        if (block['type'] === 'tool_use' && id && tool) uses.set(id, { id, tool, input: block['input'] });
      }
    } else if (role === 'user')
      for (const block of blocks) {
        const use = uses.get(textOf(block['tool_use_id']) ?? '');
        const isOwn = use && clientFileOfCall(file, use.tool, fieldsOf(use.input)) !== null;
        if (use && !isOwn && block['type'] === 'tool_result' && hasRun(block) && needsDecision(use.tool))
          ran.push({ ...use, at: textOf(entry['timestamp']) ?? '' });
      }
  }
  return { texts, ran, end };
}

export function readEndedCalls(file: string): ReadonlyMap<string, { readonly ran: boolean; readonly text: string }> {
  return new Map(
    readClientLog(file)
      .entries.flatMap(blocksOf)
      .flatMap((block) => {
        const id = textOf(block['tool_use_id']);
        if (id === null || block['type'] !== 'tool_result') return [];
        return [[id, { ran: hasRun(block), text: wordsOf(block) }] as const];
      }),
  );
}

function blocksOf(entry: Fields): readonly Fields[] {
  const { content } = fieldsOf(entry['message']);
  return Array.isArray(content) ? content.map((block) => fieldsOf(block)) : [];
}

/** False for tools without effect on the world, which need no decision. */
const needsDecision = (tool: string): boolean => translateClientTool('claude-code', tool)?.kind !== 'inner';

/** False for an error without an exit code: the call may not have run. */
const hasRun = (block: Fields): boolean => block['is_error'] !== true || wordsOf(block).startsWith('Exit code ');

function wordsOf({ content }: Fields): string {
  const [first] = Array.isArray(content) ? content : [];
  return textOf(content) ?? textOf(fieldsOf(first)['text']) ?? '';
}
