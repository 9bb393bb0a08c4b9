import { Client, type ClientOptions, InMemoryTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { AgentSession } from '../../../src/adapters/core/agent-session.ts';
import { McpHost } from '../../../src/adapters/mcp/mcp-host.ts';
import type { McpOptions } from '../../../src/adapters/mcp/mcp-options.ts';
import { serveOverTransport } from '../../../src/adapters/mcp/serve-stdio.ts';

/** The two eras of the protocol, as a client asks for them. */
export const ERAS = ['legacy', 'auto'] as const;
export type Era = (typeof ERAS)[number];

/** How a scripted person answers a question of the server. */
export type Answer = { action: 'accept'; content: { approve: boolean } } | { action: 'decline' } | { action: 'cancel' };

export interface ClientParts {
  readonly era?: Era;
  /** If omitted, the client cannot ask anyone. */
  readonly person?: (shown: string) => Promise<Answer>;
  /** The kinds of elicitation that the client declares. Default: forms. */
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  /** If omitted, the client never lists again by itself. */
  readonly onTools?: (names: readonly string[]) => void;
}

/** The official client, set up as in an agent's program. */
export function newClient({ era = 'legacy', person, onTools, elicitation = { form: {} } }: ClientParts = {}): Client {
  const options: ClientOptions = {
    capabilities: person ? { elicitation: elicitation as { form: Record<string, never> } } : {},
    versionNegotiation: { mode: era },
    ...(onTools
      ? {
          listChanged: {
            tools: {
              debounceMs: 0,
              onChanged: (error, tools) => {
                if (error) throw error;
                onTools((tools ?? []).map(({ name }) => name));
              },
            },
          },
        }
      : {}),
  };
  const client = new Client({ name: 'a client', version: '1' }, options);
  if (person)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const answer = await person(params.message);
      return answer.action === 'accept' ? { action: 'accept', content: answer.content } : answer;
    });
  return client;
}

export const hostOf = (session: AgentSession, options: Partial<McpOptions> = {}): McpHost =>
  new McpHost({ session, version: '0.0.0', ...options });

/** A client that is connected to a host in this process. */
export async function connected(host: McpHost, parts: ClientParts = {}): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const serving = serveOverTransport(host, far);
  const client = newClient(parts);
  await client.connect(near);
  onTestFinished(async () => {
    await client.close();
    await serving.close();
  });
  return client;
}

type Called = Awaited<ReturnType<Client['callTool']>>;

/** The text of a result that the model reads. */
export const textOf = ({ content }: Called): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');

/** Makes one call by name, and returns the text that the model reads. */
export async function call(client: Client, name: string, input: { readonly [name: string]: unknown } = {}) {
  const result = await client.callTool({ name, arguments: { ...input } });
  return { text: textOf(result), isError: result.isError === true, result };
}

export const names = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);
