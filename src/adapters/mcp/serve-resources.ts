import { type Resource, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { escapeInvisibleInJson } from '../../base/text.ts';
import { HOW_TO_ANSWER_NOTE } from '../../messages/render-messages.ts';
import type { McpOptions } from './mcp-options.ts';

const SESSION_URI = 'hopgate://session';
const THREAD_URI = 'hopgate://session/thread';
const SPEC = 'hopgate://session/spec';
const CONSTRAINTS_URI = 'hopgate://session/constraints';
export const INBOX_RESOURCE_URI = 'hopgate://inbox';

/** The resources whose content changes with each call. */
export const CHANGING_RESOURCE_URIS = [SESSION_URI, THREAD_URI, CONSTRAINTS_URI] as const;

type ReadableResource = Resource & { readonly text: () => Promise<string> };

const jsonResource = (uri: string, name: string, title: string, read: () => Promise<unknown>): ReadableResource => ({
  uri,
  name,
  title,
  mimeType: 'application/json',
  text: async () => escapeInvisibleInJson(JSON.stringify(await read(), null, 2)),
});

/** Serves the session's resources. Returns a function that notifies the client that a resource has changed. */
export function serveResources(server: Server, { session, reading }: McpOptions): (uri: string) => void {
  const all: readonly ReadableResource[] = [
    jsonResource(SESSION_URI, 'session', 'The state of the session', () => session.status()),
    ...(reading
      ? [
          {
            uri: THREAD_URI,
            name: 'thread',
            title: 'What has happened in the session',
            mimeType: 'text/plain',
            text: () => reading.thread(),
          },
          jsonResource(SPEC, 'spec', 'The spec set that the session is pinned to', () => reading.spec()),
          jsonResource(CONSTRAINTS_URI, 'constraints', 'The limits here', async () => {
            const { peripheral, available } = await session.status();
            return peripheral === null ? { peripheral, available } : reading.constraints(peripheral);
          }),
          jsonResource(INBOX_RESOURCE_URI, 'inbox', 'The messages that the agent has not read', async () => ({
            messages: await reading.inbox(),
            note: HOW_TO_ANSWER_NOTE,
          })),
        ]
      : []),
  ];
  const find = (uri: string) => {
    const found = all.find((resource) => resource.uri === uri);
    if (found) return found;
    throw new ResourceNotFoundError(
      uri,
      `there is no resource ${uri}; there are: ${all.map((resource) => resource.uri).join(', ')}`,
    );
  };
  const subscribed = new Set<string>();
  server.setRequestHandler('resources/list', async () => ({ resources: all.map(({ text, ...resource }) => resource) }));
  server.setRequestHandler('resources/templates/list', async () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params }) => {
    const { uri, mimeType, text } = find(params.uri);
    return { contents: [{ uri, mimeType: mimeType ?? 'text/plain', text: await text() }] };
  });
  server.setRequestHandler('resources/subscribe', async ({ params }) => {
    subscribed.add(find(params.uri).uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', async ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return (uri) => {
    // Since the protocol of 2026-07-28 the SDK keeps the subscriptions, and forwards only requested notifications.
    const modern = server.getNegotiatedProtocolVersion()?.startsWith('2026') ?? false;
    if (modern || subscribed.has(uri))
      void server.sendResourceUpdated({ uri }).catch((error) => server.onerror?.(error));
  };
}
