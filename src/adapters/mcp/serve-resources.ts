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

/** Serves the session's resources. Returns a function that notifies the client that a resource has changed. */
export function serveResources(server: Server, { session, reading }: McpOptions): (uri: string) => void {
  const status: Resource & { text: () => Promise<string> } = {
    uri: SESSION_URI,
    name: 'session',
    title: 'The state of the session',
    mimeType: 'application/json',
    text: async () => JSON.stringify(await session.status(), null, 2),
  };
  const more: readonly (typeof status)[] = reading
    ? [
        {
          uri: THREAD_URI,
          name: 'thread',
          title: 'What has happened in the session',
          mimeType: 'text/plain',
          text: () => reading.thread(),
        },
        {
          uri: SPEC,
          name: 'spec',
          title: 'The spec set that the session is pinned to',
          mimeType: 'application/json',
          text: async () => JSON.stringify(await reading.spec(), null, 2),
        },
        {
          uri: CONSTRAINTS_URI,
          name: 'constraints',
          title: 'The limits here',
          mimeType: 'application/json',
          text: async () => {
            const { peripheral, available } = await session.status();
            const bounds = peripheral === null ? { peripheral, available } : await reading.constraints(peripheral);
            return JSON.stringify(bounds, null, 2);
          },
        },
        {
          uri: INBOX_RESOURCE_URI,
          name: 'inbox',
          title: 'The messages that the agent has not read',
          mimeType: 'application/json',
          text: async () =>
            escapeInvisibleInJson(
              JSON.stringify({ messages: await reading.inbox(), note: HOW_TO_ANSWER_NOTE }, null, 2),
            ),
        },
      ]
    : [];
  const all = [status, ...more];
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
