import type { CallToolRequest, Server, ServerContext } from '@modelcontextprotocol/server';
import manifest from '../../../package.json' with { type: 'json' };
import { answerToolCall } from './call-tool.ts';
import type { McpHost, ServedClient } from './mcp-host.ts';
import { toMcpTool } from './mcp-tool.ts';
import { servePrompts } from './serve-prompts.ts';
import { serveResources } from './serve-resources.ts';
import { ServerWithTasks, serveTasks, TASK_CAPABILITIES } from './tasks/task-protocol.ts';

/**
 * Makes a server for one connection, or for one stateless request.
 * @param greets true if the client may ask for the server's introduction, which then includes the agent's situation
 */
export async function makeMcpServer(host: McpHost, servedClient: ServedClient, greets = true): Promise<Server> {
  const { options } = host;
  const { version = manifest.version } = options;
  const server = new ServerWithTasks(
    { name: 'hopgate', title: 'hopgate', version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: false },
        prompts: { listChanged: false },
        completions: {},
        ...TASK_CAPABILITIES,
      },
      ...(greets ? { instructions: await serverInstructions(options) } : {}),
    },
  );
  server.setRequestHandler('tools/list', async () => {
    const [tools, specs, { nameOf }] = await Promise.all([options.session.tools(), host.specs(), host.names()]);
    servedClient.relisting.listed();
    return { tools: tools.map((tool) => toMcpTool(host.longAnswers.offer(tool), nameOf(tool.name), specs)) };
  });
  server.setRequestHandler('tools/call', (request: CallToolRequest, ctx: ServerContext) =>
    answerToolCall(host, server, servedClient, request, ctx),
  );
  const updated = serveResources(server, options);
  const taskChanged = serveTasks(server, host.tasks);
  servePrompts(server, host);
  server.onerror = (error) => host.report(error);
  if (servedClient.connected)
    server.onclose = host.observe({
      toolsChanged: () => void server.sendToolListChanged().catch((error) => host.report(error)),
      resourceUpdated: updated,
      taskChanged,
    });
  return server;
}

// New messages are left out, because clients may cut off or drop the instructions; they come with the next answer.
const serverInstructions = async ({ describes = true, session }: McpHost['options']): Promise<string> =>
  describes ? `${INTRODUCTION}\n\n${shortened(await session.prompt({ messages: false }))}` : INTRODUCTION;

const INTRODUCTION =
  'This server limits you to one peripheral at a time; you have only its tools. "hop" moves to another peripheral, "status" describes where you are, "why" says if a call would be allowed. A refusal says what to do instead. The tools change with every hop and mode.';

/** Maximum length of the situation in the instructions, in characters. Clients cut instructions off at about 2,000. */
const MAX_CHARS = 1600;

function shortened(prompt: string): string {
  if (prompt.length <= MAX_CHARS) return prompt;
  const head = prompt.slice(0, MAX_CHARS);
  return `${head.slice(0, head.lastIndexOf('\n') + 1)}(more in "status")`;
}
