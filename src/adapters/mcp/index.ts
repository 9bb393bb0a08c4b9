export { agentSession } from '../core/local.ts';
export { McpHost } from './mcp-host.ts';
export type { McpOptions } from './options.ts';
export type { McpReading } from './reading.ts';
export { type HttpOptions, type HttpServing, serveOverHttp } from './serve-http.ts';
export { serveOverStdio, serveOverTransport } from './serve-stdio.ts';
