import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** The name and capabilities of the client that sent a request, from the request or from its connection. */
export function clientOfRequest(
  server: Server,
  { mcpReq }: ServerContext,
): { readonly capabilities: ClientCapabilities | undefined; readonly info: Implementation | undefined } {
  const envelope = mcpReq.envelope as { readonly [key: string]: unknown } | undefined;
  return {
    capabilities: (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities) ?? server.getClientCapabilities(),
    info: (envelope?.[CLIENT_INFO_META_KEY] as Implementation) ?? server.getClientVersion(),
  };
}
