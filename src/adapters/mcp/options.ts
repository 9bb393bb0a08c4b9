import type { ApprovalRequest } from '../../ports/approver.ts';
import type { AgentCall, AgentSession } from '../core/agent-session.ts';
import type { McpReading } from './reading.ts';

/** `prompt`: a person has to say yes first. */
export interface UserRuling {
  readonly decision: 'forbidden' | 'prompt';
  readonly why: string;
  /** The command as the person reads it. */
  readonly command: string;
}

export interface McpOptions {
  /** The session that every connection is served from; closed with the host. */
  readonly session: AgentSession;
  /** The version that clients show. Default: hopgate's. */
  readonly version?: string;
  /** What clients may read besides; left out: only the session's status. */
  readonly reading?: McpReading;
  /** Offer what other MCP servers do under the names that it has there, so that clients written for them find it. Default: false. */
  readonly upstreamNames?: boolean;
  /** Ask the person at the client for approvals, where the client can; else they are left to the session's approver. Default: true. */
  readonly elicit?: boolean;
  /** Is the answer there already, from someone whom the session will ask? Then nobody is asked at the client. */
  readonly answeredAhead?: (request: ApprovalRequest) => boolean | Promise<boolean>;
  /** What the rules that the user has for the client's own tools say of a call; null: nothing against it. They tighten what the session allows. */
  readonly userRules?: (call: Pick<AgentCall, 'name' | 'input'>) => Promise<UserRuling | null>;
  /** The lines of the change that an approval would ship, for the person's eyes; null: there is none. */
  readonly diff?: (request: ApprovalRequest) => readonly string[] | null | Promise<readonly string[] | null>;
  /** The command that shows all of a request in a terminal, where it can be answered as well: forms of clients cut long texts off. */
  readonly readBy?: (request: ApprovalRequest) => string | null | Promise<string | null>;
  /** Told that the person at the client has answered the request of this hash. */
  readonly answered?: (hash: string) => void | Promise<void>;
  /** How long an answer waits at most for the client to list the tools anew, in milliseconds. Default: 500. */
  readonly relistMs?: number;
  /** How often a client that has asked for it is told that its call still runs, in milliseconds. Default: 5000. */
  readonly progressMs?: number;
  /** Told of what goes wrong beside the protocol. */
  readonly onError?: (error: Error) => void;
}
