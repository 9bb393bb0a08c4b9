import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A tool call of the scripted model. `patch` in place of `input`: a freeform call: a patch for `apply_patch`, a program
 * for `exec`.
 */
export interface ScriptedCall {
  readonly name: string;
  /** `mcp__<server>` for the tools of an MCP server. */
  readonly namespace?: string;
  readonly input?: object;
  readonly patch?: string;
}

/** One answer of the model. */
export interface ScriptedTurn {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly delay?: number;
}

/** A turn computed from the model's input: the newest tool outputs, joined. */
export type ScriptStep = ScriptedTurn | ((seen: string, messages: string) => ScriptedTurn | Promise<ScriptedTurn>);

/** The model's input in one request. */
export interface SeenRequest {
  readonly thread: string;
  /** The tools that the request offers; those of an MCP server as `<namespace>.<tool>`. */
  readonly tools: readonly string[];
  /** The outputs of the calls of its last answer. */
  readonly results: readonly { readonly name: string; readonly text: string }[];
  /** Messages since its last answer, each after its role. */
  readonly messages: readonly string[];
  /** The time of the request, in milliseconds of the monotonic clock. */
  readonly at: number;
  /** The request came after the end of the script. */
  readonly overrun: boolean;
}

export interface ScriptedModel {
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

type Item = { readonly [key: string]: unknown };

/**
 * A double of the Responses API on the loopback interface: it plays a script and keeps the model's input. A
 * conversation whose user messages hold the name of a thread is played by that thread's script (sub-agents), every
 * other by `main`.
 */
export async function scriptedModel(scripts: {
  readonly [thread: string]: readonly ScriptStep[];
}): Promise<ScriptedModel> {
  const requests: SeenRequest[] = [];
  const at = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      if (request.method !== 'POST' || !request.url?.startsWith('/v1/responses')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"object":"list","data":[],"models":[]}');
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { tools?: Item[]; input?: Item[] };
      const input = body.input ?? [];
      // Newer models get their tools in a message.
      const added = input.filter(({ type }) => type === 'additional_tools').flatMap(({ tools }) => tools as Item[]);
      const tools = toolNames([...(body.tools ?? []), ...added]);
      let turn: ScriptedTurn = { text: 'ok' };
      // A request without tools is for a title or the like; it is not a turn.
      if (tools.length > 0) {
        const thread = threadOf(input, Object.keys(scripts));
        const index = at.get(thread) ?? 0;
        at.set(thread, index + 1);
        const step = scripts[thread]?.[index];
        const seen = newest(input);
        requests.push({ thread, tools, ...seen, at: performance.now(), overrun: step === undefined });
        const results = seen.results.map(({ text }) => text).join('\n');
        turn =
          typeof step === 'function'
            ? await step(results, seen.messages.join('\n'))
            : (step ?? { text: 'The script is over.' });
      }
      const items = itemsOf(turn, `${requests.length}`);
      setTimeout(() => stream(response, items, requests.length), turn.delay ?? 0);
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

const toolNames = (tools: readonly Item[] = []): string[] =>
  tools.flatMap((tool) =>
    tool['type'] === 'namespace'
      ? (tool['tools'] as Item[]).map(({ name }) => `${String(tool['name'])}.${String(name)}`)
      : [String(tool['name'] ?? tool['type'])],
  );

const isCall = ({ type }: Item): boolean => typeof type === 'string' && type.endsWith('_call');
const isOutput = ({ type }: Item): boolean => typeof type === 'string' && type.endsWith('_output');

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((part: { text?: string }) => part.text ?? '').join('\n')
    : JSON.stringify(content ?? '');
};

function threadOf(input: readonly Item[], names: readonly string[]): string {
  const texts = input.flatMap((item) =>
    item['role'] === 'user' || item['type'] === 'agent_message' ? [textOf(item['content'])] : [],
  );
  return names.find((name) => name !== 'main' && texts.some((text) => text.includes(name))) ?? 'main';
}

function newest(input: readonly Item[]): Pick<SeenRequest, 'results' | 'messages'> {
  const called = new Map(input.filter(isCall).map((item) => [item['call_id'], String(item['name'])]));
  const fresh = input.slice(input.findLastIndex((item) => item['role'] === 'assistant' || isCall(item)) + 1);
  return {
    results: fresh
      .filter(isOutput)
      .map((item) => ({ name: called.get(item['call_id']) ?? '', text: textOf(item['output']) })),
    messages: fresh.flatMap((item) => (item['role'] ? [`${String(item['role'])}: ${textOf(item['content'])}`] : [])),
  };
}

function itemsOf({ text, calls = [] }: ScriptedTurn, tag: string): Item[] {
  const message = text
    ? [
        {
          type: 'message',
          role: 'assistant',
          id: `msg_${tag}`,
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]
    : [];
  return [
    ...message,
    ...calls.map(({ name, namespace, input, patch }, index) =>
      patch === undefined
        ? {
            type: 'function_call',
            id: `fc_${tag}_${index}`,
            call_id: `call_${tag}_${index}`,
            ...(namespace ? { namespace } : {}),
            name,
            arguments: JSON.stringify(input ?? {}),
            status: 'completed',
          }
        : {
            type: 'custom_tool_call',
            id: `ctc_${tag}_${index}`,
            call_id: `call_${tag}_${index}`,
            ...(namespace ? { namespace } : {}),
            name,
            input: patch,
            status: 'completed',
          },
    ),
  ];
}

function stream(response: import('node:http').ServerResponse, items: readonly Item[], count: number): void {
  const id = `resp_${count}`;
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send('response.created', { response: { id, object: 'response', status: 'in_progress', output: [] } });
  for (const [output_index, item] of items.entries()) {
    send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } });
    send('response.output_item.done', { output_index, item });
  }
  send('response.completed', { response: { id, object: 'response', status: 'completed', output: items, usage } });
  response.end();
}
