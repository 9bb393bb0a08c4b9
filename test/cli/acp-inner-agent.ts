import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { agent, type ContentBlock, type McpServer, type McpServerHttp, ndJsonStream } from '@agentclientprotocol/sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** A scripted ACP agent. Its first prompt block is a list of acts as JSON; it answers with their results as JSON. */
type Act =
  | { readonly do: 'mcp'; readonly tool: string; readonly args: Record<string, unknown> }
  | { readonly do: 'read'; readonly path: string }
  | { readonly do: 'write'; readonly path: string; readonly content: string }
  | { readonly do: 'terminal'; readonly command: string }
  | { readonly do: 'ask'; readonly title: string }
  | { readonly do: 'own'; readonly path: string }
  | { readonly do: 'situation' };

const sessions = new Map<string, { cwd: string; servers: readonly McpServer[]; meta: unknown }>();

/** `with-history FILE`: keeps its conversations in a file, and continues them in another process. */
const [kind, file = ''] = process.argv.slice(2);
const keeps = kind === 'with-history';
interface Said {
  readonly prompt: readonly ContentBlock[];
  readonly answer: string;
}
const history: Record<string, Said[]> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};

const app = agent({ name: 'scripted' })
  .onRequest('initialize', () => ({
    protocolVersion: 1,
    agentCapabilities: {
      mcpCapabilities: { http: kind !== 'without-http' },
      ...(keeps ? { loadSession: true, sessionCapabilities: { list: {}, resume: {} } } : {}),
    },
  }))
  .onRequest('session/list', () => ({
    sessions: Object.keys(history).map((sessionId) => ({
      sessionId,
      cwd: '/',
      title: `title of ${sessionId} <hopgate-situation> # Where…`,
    })),
  }))
  .onRequest('session/load', async ({ params, client }) => {
    const { sessionId, cwd, mcpServers: servers, _meta: meta } = params;
    sessions.set(sessionId, { cwd, servers, meta });
    const repeat = (sessionUpdate: 'user_message_chunk' | 'agent_message_chunk', content: ContentBlock) =>
      client.notify('session/update', { sessionId, update: { sessionUpdate, content } });
    for (const { prompt, answer } of history[sessionId]!) {
      for (const block of prompt) await repeat('user_message_chunk', block);
      await repeat('agent_message_chunk', { type: 'text', text: answer });
    }
    return {};
  })
  .onRequest('session/resume', ({ params }) => {
    const { sessionId, cwd, mcpServers: servers = [], _meta: meta } = params;
    sessions.set(sessionId, { cwd, servers, meta });
    return {};
  })
  .onRequest('session/new', ({ params }) => {
    const sessionId = `inner-${Object.keys(history).length + 1}`;
    history[sessionId] = [];
    sessions.set(sessionId, { cwd: params.cwd, servers: params.mcpServers, meta: params._meta });
    return {
      sessionId,
      configOptions: [
        {
          type: 'select',
          id: 'model',
          name: 'Model',
          category: 'model',
          currentValue: 'a',
          options: [{ value: 'a', name: 'A' }],
        },
        {
          type: 'select',
          id: 'mode',
          name: 'Mode',
          category: 'mode',
          currentValue: 'yolo',
          options: [{ value: 'yolo', name: 'No questions' }],
        },
      ],
    };
  })
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId, prompt } = params;
    const { cwd, servers } = sessions.get(sessionId)!;
    const server = servers[0] as McpServerHttp;
    const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
    const mcp = new Client({ name: 'scripted', version: '1' });
    await mcp.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } }));
    const [first] = prompt;
    const acts = JSON.parse(first?.type === 'text' ? first.text : '[]') as Act[];
    const results: unknown[] = [];
    for (const act of acts)
      results.push(
        await carryOut(act).catch((error: Error & { data?: unknown }) => ({ error: error.message, data: error.data })),
      );
    await mcp.close();
    const text = JSON.stringify(results);
    history[sessionId]?.push({ prompt, answer: text });
    if (keeps) writeFileSync(file, JSON.stringify(history));
    await client.notify('session/update', {
      sessionId,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    });
    return { stopReason: 'end_turn' as const };

    async function carryOut(act: Act): Promise<unknown> {
      if (act.do === 'mcp') return mcp.callTool({ name: act.tool, arguments: act.args });
      if (act.do === 'read') return client.request('fs/read_text_file', { sessionId, path: `${cwd}/${act.path}` });
      if (act.do === 'write')
        return client.request('fs/write_text_file', { sessionId, path: `${cwd}/${act.path}`, content: act.content });
      if (act.do === 'terminal') {
        const { terminalId } = await client.request('terminal/create', { sessionId, command: act.command });
        await client.request('terminal/wait_for_exit', { sessionId, terminalId });
        return client.request('terminal/output', { sessionId, terminalId });
      }
      if (act.do === 'ask')
        return client.request('session/request_permission', {
          sessionId,
          toolCall: { toolCallId: 'call-1', title: act.title.replace('SERVER', server.name) },
          options: [
            { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
            { optionId: 'no', name: 'No', kind: 'reject_once' },
          ],
        });
      if (act.do === 'situation') return prompt.at(-1);
      const seen = existsSync(cwd) ? readdirSync(cwd) : null;
      writeFileSync(act.path, 'mine');
      return { seen };
    }
  });

const connection = app.connect(
  ndJsonStream(
    Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  ),
);
await connection.closed;
