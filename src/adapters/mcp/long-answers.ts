import { randomBytes } from 'node:crypto';
import type { AgentAnswer, AgentCall, AgentTool } from '../core/agent-session.ts';
import { readCallArguments } from '../core/calls/control-calls.ts';
import { renderMessagesForAgent } from '../core/turn-messages.ts';

/** Maximum number of long answers whose parts are stored. */
const MAX_STORED = 8;

/** Splits answers that are too long for a client's model, and stores the parts that the model has not requested yet. */
export class LongAnswerParts {
  readonly #bytes: number;
  readonly #parts = new Map<string, readonly string[]>();

  /** @param bytes maximum number of bytes in a part; Infinity if the client takes answers of any length */
  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Adds the parameter `part` to the tool `status`, if long answers are divided. Other tools stay unchanged. */
  offer(tool: AgentTool): AgentTool {
    if (tool.name !== 'status' || this.#bytes === Number.POSITIVE_INFINITY) return tool;
    const part = { type: 'string', description: 'A further part of a long answer, by the name given there.' };
    const { inputSchema } = tool;
    return { ...tool, inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, part } } };
  }

  /** The part of a stored answer that a call of `status` requests; null if the call requests none. */
  requestedPart({ name, input }: AgentCall): string | null {
    const { part } = readCallArguments(input);
    if (name !== 'status' || typeof part !== 'string') return null;
    const [, id = '', number = ''] = /^(\w+)\/(\d+)$/.exec(part) ?? [];
    const parts = this.#parts.get(id);
    const text = parts?.[Number(number) - 1];
    if (parts === undefined)
      return `There is no part "${part}" any more: the last ${MAX_STORED} long answers are kept.`;
    if (text === undefined) return `There is no part "${part}": that answer has ${parts.length} parts.`;
    return text + remark(id, Number(number), parts.length);
  }

  /** The first part of an answer that is too long, with the new messages; null if the whole text fits. */
  firstPart({ text, messages = [] }: AgentAnswer): string | null {
    if (Buffer.byteLength(text) <= this.#bytes) return null;
    const news = messages.length === 0 ? '' : `\n${renderMessagesForAgent(messages)}`;
    const parts = split(news !== '' && text.endsWith(news) ? text.slice(0, -news.length) : text, this.#bytes);
    if (parts.length < 2) return null;
    const id = randomBytes(4).toString('hex');
    this.#parts.set(id, parts);
    for (const old of [...this.#parts.keys()].slice(0, -MAX_STORED)) this.#parts.delete(old);
    return parts[0] + remark(id, 1, parts.length) + news;
  }
}

/** The line below a part of an answer: the part's number, and the call that returns the next part. */
const remark = (id: string, part: number, of: number): string =>
  part === of
    ? `\n(part ${part} of ${of}, the last)`
    : `\n(part ${part} of ${of} of this answer; the next: status ${JSON.stringify({ part: `${id}/${part + 1}` })})`;

/** Splits a text into parts of at most `bytes` bytes. A part ends at a line end if its second half has one. */
function split(text: string, bytes: number): readonly string[] {
  const all = Buffer.from(text, 'utf8');
  const parts: string[] = [];
  for (let from = 0; from < all.length; ) {
    let end = Math.min(from + bytes, all.length);
    if (end < all.length) {
      const line = all.lastIndexOf(0x0a, end - 1) + 1;
      if (line > from + bytes / 2) end = line;
      else while (end > from + 1 && (all[end]! & 0xc0) === 0x80) end -= 1;
    }
    parts.push(all.toString('utf8', from, end));
    from = end;
  }
  return parts;
}
