import { assertArgument, hasMethods } from '../../base/assert-argument.ts';
import { isObject } from '../../base/json.ts';
import type { GrantLimits } from '../../gate/approvals/grant.ts';
import type { Available, Denial } from '../../gate/denial.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { Message } from '../../ports/message-store.ts';
import type { SessionStatus } from '../../session/session-status.ts';
import type { CONTROLS } from '../../spec/policy/tool-ids.ts';
import type { Fields, Json, ToolEffect } from '../../spec/types.ts';

/** The JSON Schema of a tool's arguments; its type is always an object. */
export interface InputSchema {
  readonly type: 'object';
  readonly properties: Fields;
  readonly required: readonly string[];
  readonly additionalProperties: boolean;
}

/** A tool as an agent's program offers it to its model. */
export interface AgentTool {
  /** The tool's id in the spec's catalogue, or one of {@link CONTROLS}. */
  readonly name: string;
  /** A `control` changes or explains the session's state. It has no outside effect and is always available. */
  readonly kind: 'tool' | 'control';
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly effect: ToolEffect;
  /** True if the operator must approve some calls; `wants` says which. */
  readonly mayNeedApproval: boolean;
}

/** The tools that every session offers besides the tools of its peripheral. */
export type ControlName = (typeof CONTROLS)[number];

/** A tool call as a model wrote it. Nothing in it is trusted. */
export interface AgentCall {
  readonly name: string;
  /** The model's arguments, unchecked. `hop` also accepts the short form `{"hop": …, "reason": …}`. */
  readonly input: unknown;
  readonly signal?: AbortSignal;
  /** The client's id of the call; the transcript records the call under it. */
  readonly callId?: string;
  /** The id for the message that the call sends. Default: a new id. */
  readonly messageId?: string;
  /** False if the agent may never read the answer; new messages then come with the next answer. Default: true. */
  readonly messages?: boolean;
  /** The W3C trace context of the call, so that spans of a session in another process join the client's trace. */
  readonly trace?: { readonly traceparent: string; readonly tracestate?: string };
  /**
   * The person's answer to the request that `wants` returned: a yes; null for a no; or the reason why the answer counts
   * as a no.
   */
  readonly approved?:
    | { readonly hash: string; readonly by: string; readonly grant?: GrantLimits }
    | { readonly because: string }
    | null;
  /** The reason why the user's own rules for the client refuse the call; the call is then not carried out. */
  readonly refused?: string;
  /** The answer, if the adapter already has it: the call is recorded and not carried out. */
  readonly answer?: string;
}

/** The answer to a call, worded for a model. */
export interface AgentAnswer {
  /** `refused` by the gate or the tool, with the remedy in `denial`; `failed` if the tool ran without success. */
  readonly status: 'ok' | 'failed' | 'refused';
  readonly text: string;
  /** The answer as data: a tool's result, a hop's fruit and context, the status, … */
  readonly data: Json;
  readonly denial: Denial | null;
  /** The new messages at the end of `text`; absent if there are none, or if the session is in another process. */
  readonly messages?: readonly Message[];
  /** True if the call changed the set of available tools. */
  readonly toolsChanged: boolean;
}

/**
 * A session as an agent's program uses it: the tools available now, calls one at a time, and the prompt for the model.
 * Every adapter builds on this interface alone, so a session can live in this process (`agentSession`) or in another
 * one.
 */
export interface AgentSession {
  readonly id: string;
  /** The tools available now: the tools of the peripheral that the mode allows, and the controls. */
  tools(): Promise<readonly AgentTool[]>;
  /** Every tool of the spec set, and the controls: for frameworks that fix the tools of an agent when it is made. */
  allTools(): Promise<readonly AgentTool[]>;
  /** Carries out a call. Never throws because of the agent's input. */
  call(call: AgentCall): Promise<AgentAnswer>;
  /** The approval by a person that this call needs; null if none. A dry run. */
  wants(call: AgentCall): Promise<ApprovalRequest | null>;
  status(): Promise<SessionStatus & { readonly available: Available }>;
  /**
   * The prompt for the model on entry and after a compaction: its place, context, tools, exits and new messages. The
   * messages then count as shown. With `messages: false` they come with the next answer instead, for clients that may
   * drop the prompt.
   */
  prompt(options?: { readonly messages?: boolean }): Promise<string>;
  /** Releases the session; it can be opened again by its id. */
  close(): Promise<void>;
}

/** Refuses anything but an agent session, and options that are not an object. @throws TypeError with the remedy */
export function assertAgentSession(session: unknown, name: string, options: unknown = {}): void {
  const isAgentSession = hasMethods(session, 'call', 'wants', 'tools', 'allTools', 'prompt');
  assertArgument(isAgentSession, `${name}: session`, 'agentSession(session)', session);
  assertArgument(isObject(options), `${name}: options`, 'an object', options);
}
