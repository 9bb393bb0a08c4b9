// An MCP server that misbehaves on demand. Its protocol is written by hand, so that it can break it.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Fields = { readonly [key: string]: unknown };

const send = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const say = (id: unknown, text: string, more: object = {}): void =>
  send({ id, result: { content: [{ type: 'text', text }], ...more } });

const broken =
  process.argv[2] !== undefined && existsSync(process.argv[2]) ? readFileSync(process.argv[2], 'utf8') : '';
if (broken === 'crash') {
  process.stderr.write('loading…\n\u001b[31mno database at postgres://me:hunter-two@db\u001b[0m\n');
  process.exit(3);
}
if (broken === 'silent') {
  setInterval(() => {}, 1000);
  writeFileSync(`${process.argv[2]}.pid.new`, String(process.pid));
  renameSync(`${process.argv[2]}.pid.new`, `${process.argv[2]}.pid`);
}

let description = 'Says it again.';
const text = { type: 'object', properties: { text: { type: 'string' } } };
const tools = (): object[] => [
  { name: 'echo', description, inputSchema: text, annotations: { readOnlyHint: true } },
  ...Object.keys(DO)
    .filter((name) => name !== 'echo')
    .map((name) => ({ name, description: `Does ${name}.`, inputSchema: text, ...PROMISES[name] })),
];

const number = { type: 'object', properties: { data: { type: 'number' } }, required: ['data'] };
/** The output schemas that tools declare and do not follow. */
const PROMISES: { readonly [name: string]: object } = {
  'breaks-its-word': { outputSchema: number },
  'means-nothing': { outputSchema: { type: 'object', properties: { data: { $ref: '#/nowhere' } } } },
};

let asked: unknown = null;
const DO: { readonly [name: string]: (id: unknown, text: string) => void } = {
  echo: (id, text) => say(id, text),
  crash: () => {
    process.stderr.write('I give up\n');
    process.exit(7);
  },
  hang: () => {},
  stay: (id) => {
    setInterval(() => {}, 1000);
    say(id, 'here to stay');
  },
  spin: () => {
    for (;;);
  },
  flood: (id, size) => say(id, 'é'.repeat(Number(size))),
  'flood-image': (id, size) =>
    send({ id, result: { content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(Number(size)) }] } }),
  'flood-structured': (id, size) => say(id, 'see the data', { structuredContent: { data: 'A'.repeat(Number(size)) } }),
  'flood-line': () => {
    const pour = (): void => {
      while (process.stdout.write('x'.repeat(1 << 20)));
      process.stdout.once('drain', pour);
    };
    pour();
  },
  'flood-junk': () => void setInterval(() => process.stdout.write(`${'not mcp '.repeat(100_000)}\n`), 1),
  junk: (id, text) => {
    process.stdout.write('a line that is not JSON\n{"jsonrpc":"2.0","id":99999,"result":{}}\n[]\nnull\n\n');
    process.stdout.write(`{"jsonrpc":"2.0","id":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`);
    say(id, text);
  },
  malformed: (id) => send({ id, result: { content: 'not a list' } }),
  'protocol-error': (id) => send({ id, error: { code: -32602, message: 'no such thing' } }),
  'tool-error': (id, text) => say(id, text, { isError: true }),
  'breaks-its-word': (id, text) => say(id, text, { structuredContent: { data: text } }),
  'means-nothing': (id, text) => say(id, text, { structuredContent: { data: text } }),
  env: (id, name) =>
    say(id, `${name}=${process.env[name]}`, { structuredContent: { [name]: process.env[name] ?? null } }),
  all: (id) => say(id, JSON.stringify(process.env)),
  change: (id, to) => {
    description = to;
    send({ method: 'notifications/tools/list_changed' });
    say(id, 'changed');
  },
  ask: (id, method) => {
    asked = id;
    send({
      id: 'ask',
      method,
      params: { message: 'your password?', requestedSchema: { type: 'object' }, messages: [], maxTokens: 1 },
    });
  },
  child: (id) => {
    const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
    say(id, String(child.pid));
  },
  pid: (id) => say(id, String(process.pid)),
  where: (id) => say(id, process.cwd()),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  if (broken === 'silent') return;
  const message = JSON.parse(line) as Fields;
  const { id, method, params } = message;
  const fields = (params ?? {}) as Fields;
  if (id === 'ask') say(asked, `answered: ${JSON.stringify(message['error'] ?? message['result'])}`);
  else if (method === 'initialize')
    send({
      id,
      result: {
        protocolVersion: fields['protocolVersion'],
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'fixture', version: '1' },
        instructions: `offered: ${JSON.stringify(fields['capabilities'])}`,
      },
    });
  else if (method === 'ping') send({ id, result: {} });
  else if (method === 'tools/list') send({ id, result: { tools: tools() } });
  else if (method === 'tools/call')
    (DO[String(fields['name'])] ?? ((id) => say(id, 'unknown', { isError: true })))(
      id,
      String((fields['arguments'] as Fields | undefined)?.['text'] ?? ''),
    );
});
