import type { AgentSessionOptions } from './open-agent.ts';

export interface McpCommand extends Pick<AgentSessionOptions, 'root' | 'agent' | 'session' | 'specs' | 'peripheral'> {
  /** Use the session of the client program that started this process. */
  readonly attach?: boolean;
  readonly approve?: string[];
  /** How long an approval waits for "hopgate approve", in seconds. */
  readonly waitApproval?: number;
  readonly elicit: boolean;
  readonly upstreamNames?: boolean;
  readonly http?: string | true;
  readonly allowHost?: string[];
  readonly observe?: boolean;
  readonly telemetry?: boolean | 'contents';
  readonly unsafeNoSandbox?: boolean;
}

/** The environment variable with the token for `--http`, so that a client's config can contain a fixed one. */
export const MCP_TOKEN_VARIABLE = 'HOPGATE_MCP_TOKEN';
