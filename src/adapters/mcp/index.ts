export { agentSession } from '../core/local-agent-session.ts';
export { McpHost } from './mcp-host.ts';
export type { McpOptions } from './mcp-options.ts';
export type { McpReading } from './mcp-reading.ts';
export { type HttpOptions, type HttpServing, serveOverHttp } from './serve-http.ts';
export { serveOverStdio, serveOverTransport } from './serve-stdio.ts';
