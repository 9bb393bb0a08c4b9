import type { GrantLimits } from '../../gate/approvals/grant.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { AgentCall, AgentSession } from '../core/agent-session.ts';
import type { McpReading } from './mcp-reading.ts';

export interface UserRuleDecision {
  /** A user's rule forbids the call, or demands that a person approves it first (`prompt`). */
  readonly decision: 'forbidden' | 'prompt';
  readonly why: string;
  readonly command: string;
}

export interface McpOptions {
  /** The session for all connections; closed with the host. */
  readonly session: AgentSession;
  /** The server version that clients show. Default: hopgate's. */
  readonly version?: string;
  /** Further resources for clients. Default: only the session's status. */
  readonly reading?: McpReading;
  /** Offers the tools of other MCP servers under their own names, for clients of those servers. Default: false. */
  readonly upstreamNames?: boolean;
  /** Asks the person at the client for approvals if the client can, else the session's approver. Default: true. */
  readonly elicit?: boolean;
  /** False if hooks describe the situation to the model, so that the introduction must not repeat it. Default: true. */
  readonly describes?: boolean;
  /** True if an approver of the session has answered already: the person at the client is not asked. */
  readonly answeredAhead?: (request: ApprovalRequest) => boolean | Promise<boolean>;
  /** Applies the user's rules for the client's own tools to a call, as restrictions; null if no rule forbids it. */
  readonly userRules?: (call: Pick<AgentCall, 'name' | 'input'>) => Promise<UserRuleDecision | null>;
  /** The lines of the change that an approval would ship, to show to the person; null if there is none. */
  readonly diff?: (request: ApprovalRequest) => readonly string[] | null | Promise<readonly string[] | null>;
  /** The terminal command that shows the full request and answers it, for forms that cut long texts; null if none. */
  readonly readBy?: (request: ApprovalRequest) => string | null | Promise<string | null>;
  /** Parses the limits that a person wrote in a form (`3x`, `2h tests`). Without it, forms offer no grant. */
  readonly grantIn?: (text: string, request: ApprovalRequest) => GrantLimits | { readonly problem: string };
  /** Called when the person at the client has answered the request with this hash. */
  readonly answered?: (hash: string) => void | Promise<void>;
  /**
   * Maximum size of an answer in bytes (default 32,000); longer ones are read in parts. Infinity if the client divides
   * long answers itself.
   */
  readonly answerBytes?: number;
  /** Maximum time that an answer waits for the client to list the tools again, in milliseconds. Default: 500. */
  readonly relistMs?: number;
  /** Maximum time that a whistle waits, in whole seconds; clients end calls after 60 s by default. Default: 45. */
  readonly waitSeconds?: number;
  /** Interval of progress notifications, for clients that request them, in milliseconds. Default: 5000. */
  readonly progressMs?: number;
  /** Runs a call under the W3C trace context of its request (`traceparent` in `_meta`); see `hopgate/telemetry`. */
  readonly inTrace?: <T>(meta: { readonly [field: string]: unknown }, work: () => T) => T;
  /** Called with errors that the protocol does not report. */
  readonly onError?: (error: Error) => void;
}
