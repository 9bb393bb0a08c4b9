/** What the command line of `hopgate mcp` says. */
export interface McpCommand {
  readonly root: string;
  /** Work in the session of the client program that this process belongs to. */
  readonly attach?: boolean;
  readonly session?: string;
  readonly agent: string;
  readonly peripheral?: string;
  readonly specs?: string;
  readonly approve?: string[];
  /** In seconds. */
  readonly waitApproval?: number;
  readonly elicit: boolean;
  readonly upstreamNames?: boolean;
  readonly http?: string | true;
  readonly allowHost?: string[];
  readonly unsafeNoSandbox?: boolean;
}

/** Where `--http` takes its token from, so that a client's config can name one that stays. */
export const TOKEN_VARIABLE = 'HOPGATE_MCP_TOKEN';
