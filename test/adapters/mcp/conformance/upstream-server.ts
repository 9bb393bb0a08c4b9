import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

// The tools that the conformance scenarios call, as a server behind the gateway.
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const AUDIO = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const image = { type: 'image', data: IMAGE, mimeType: 'image/png' } as const;
const resource = (uri: string, mimeType: string, text: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text } }) as const;
const text = (words: string) => ({ type: 'text', text: words }) as const;

function makeServer(): McpServer {
  const server = new McpServer({ name: 'behind', version: '1.0.0' });
  const tool = (name: string, result: Parameters<typeof answering>[0]) =>
    server.registerTool(name, { description: `${name}, as the scenarios want it.` }, answering(result));
  tool('test_simple_text', { content: [text('This is a simple text response for testing.')] });
  tool('test_image_content', { content: [image] });
  tool('test_audio_content', { content: [{ type: 'audio', data: AUDIO, mimeType: 'audio/wav' }] });
  tool('test_embedded_resource', {
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  });
  tool('test_multiple_content_types', {
    content: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  });
  tool('test_error_handling', {
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  });
  server.registerTool('test_tool_with_logging', { description: 'Logs while it runs.' }, async (ctx) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
      await ctx.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
    return { content: [text('Logged three times.')] };
  });
  server.registerTool('test_tool_with_progress', { description: 'Tells of its progress.' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100])
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    return { content: [text('Went from 0 to 100.')] };
  });
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model.', inputSchema: fromJsonSchema<{ prompt: string }>(oneText('prompt')) },
    async ({ prompt }, ctx) => {
      const messages = [{ role: 'user' as const, content: text(prompt) }];
      const reply = await ctx.mcpReq.requestSampling({ messages, maxTokens: 100 });
      return { content: [text(JSON.stringify(reply.content))] };
    },
  );
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the person.', inputSchema: fromJsonSchema<{ message: string }>(oneText('message')) },
    async ({ message }, ctx) => {
      const requestedSchema = { type: 'object' as const, properties: { username: { type: 'string' as const } } };
      const reply = await ctx.mcpReq.elicitInput({ mode: 'form', message, requestedSchema });
      return { content: [text(`User response: ${reply.action}`)] };
    },
  );
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Takes what only JSON Schema 2020-12 can say.',
      inputSchema: fromJsonSchema({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
        },
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
        additionalProperties: false,
      }),
    },
    answering({ content: [text('taken')] }),
  );
  return server;
}

const answering =
  (result: {
    content: (ReturnType<typeof text> | typeof image | ReturnType<typeof resource> | Audio)[];
    isError?: boolean;
  }) =>
  async () =>
    result;
interface Audio {
  readonly type: 'audio';
  readonly data: string;
  readonly mimeType: string;
}

const oneText = (name: string) => ({
  type: 'object' as const,
  properties: { [name]: { type: 'string' as const } },
  required: [name],
});

serveStdio(makeServer);
