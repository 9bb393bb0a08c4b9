import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One answer of the model. */
export interface Turn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
}

/**
 * A turn computed from the model's input: the newest tool results, joined, and the other messages. It may wait, and
 * change the world meanwhile.
 */
export type Step = Turn | ((results: string, messages: string) => Turn | Promise<Turn>);

/** The model's input in one request. */
export interface Seen {
  readonly thread: string;
  /** The tools that the request offers. */
  readonly tools: readonly string[];
  /** The results of the calls of its last answer. */
  readonly results: readonly Result[];
  /** Texts since its last answer, each after its role. */
  readonly texts: readonly string[];
  /** The time of the request, in milliseconds of the monotonic clock. */
  readonly at: number;
  /** The length of the request. */
  readonly characters: number;
  /** The request came after the end of the script. */
  readonly overrun: boolean;
}

export interface Result {
  readonly name: string;
  readonly failed: boolean;
  readonly text: string;
}

export interface Model {
  readonly port: number;
  readonly requests: readonly Seen[];
  close(): Promise<void>;
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly text?: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: Content;
}
type Content = string | readonly Block[];
interface Message {
  readonly role: string;
  readonly content: Content;
}
interface Body {
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name: string }[];
  readonly system?: Content;
  readonly messages?: readonly Message[];
}

/**
 * A double of the Messages API on the loopback interface: it plays a script and records the model's input. A
 * conversation whose first user message contains the name of a thread is played by that thread's script (sub-agents),
 * every other by `main`. A request without tools, such as one for a title, is not a turn, unless the program has no
 * tools at all.
 */
export async function scriptedModel(
  scripts: { readonly [thread: string]: readonly Step[] },
  { hasTools = true } = {},
): Promise<Model> {
  const requests: Seen[] = [];
  // Ids of calls that are unique in a conversation that several runs share.
  const run = randomBytes(4).toString('hex');
  const at = new Map<string, number>();
  const turnFor = async (body: Body): Promise<Turn> => {
    const tools = (body.tools ?? []).map(({ name }) => name);
    if (hasTools && tools.length === 0) return { text: 'ok' };
    const thread = threadOf(body, Object.keys(scripts));
    const index = at.get(thread) ?? 0;
    at.set(thread, index + 1);
    const step = scripts[thread]?.[index];
    const seen = newest(body.messages ?? []);
    const characters = JSON.stringify([body.tools, body.system, body.messages]).length;
    requests.push({ thread, tools, ...seen, at: performance.now(), characters, overrun: step === undefined });
    const results = seen.results.map(({ text }) => text).join('\n');
    return typeof step === 'function'
      ? step(results, seen.texts.join('\n'))
      : (step ?? { text: 'The script is over.' });
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const path = request.url?.split('?')[0] ?? '';
      if (request.method !== 'POST' || path !== '/v1/messages') return answerJson(response, path);
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Body;
      reply(response, body, await turnFor(body), `${run}_${requests.length}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerJson(response: ServerResponse, path: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(path.endsWith('/count_tokens') ? { input_tokens: 10 } : { data: [], has_more: false }));
}

function textOf(content: Content | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.map(({ type, text, content }) => (type === 'tool_result' ? textOf(content) : (text ?? ''))).join('\n');
}

function threadOf({ messages }: Body, names: readonly string[]): string {
  const first = textOf(messages?.find(({ role }) => role === 'user')?.content);
  return names.find((name) => name !== 'main' && first.includes(name)) ?? 'main';
}

function newest(messages: readonly Message[]): Pick<Seen, 'results' | 'texts'> {
  const blocks = (message: Message) =>
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
  const called = new Map(
    messages.flatMap(
      (message) =>
        blocks(message).flatMap((block) => (block.type === 'tool_use' ? [[block.id, block.name ?? '']] : [])) as [
          string,
          string,
        ][],
    ),
  );
  const fresh = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  return {
    results: fresh.flatMap((message) =>
      blocks(message).flatMap(({ type, tool_use_id = '', is_error = false, content }) =>
        type === 'tool_result'
          ? [{ name: called.get(tool_use_id) ?? '', failed: is_error, text: textOf(content) }]
          : [],
      ),
    ),
    texts: fresh.flatMap((message) =>
      blocks(message).flatMap(({ type, text }) => (type === 'text' ? [`${message.role}: ${text}`] : [])),
    ),
  };
}

function reply(response: ServerResponse, body: Body, { text, calls = [] }: Turn, tag: string): void {
  const blocks = [
    ...(text ? [{ type: 'text' as const, text }] : []),
    ...calls.map(({ name, input }, index) => ({ type: 'tool_use' as const, id: `toolu_${tag}_${index}`, name, input })),
  ];
  const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  const message = {
    id: `msg_${tag}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    stop_sequence: null,
    usage,
  };
  if (!body.stream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...message, content: blocks, stop_reason }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send('message_start', { message: { ...message, content: [], stop_reason: null } });
  for (const [index, block] of blocks.entries()) {
    const isText = block.type === 'text';
    send('content_block_start', {
      index,
      content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} },
    });
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    send('content_block_delta', { index, delta });
    send('content_block_stop', { index });
  }
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } });
  send('message_stop', {});
  response.end();
}
