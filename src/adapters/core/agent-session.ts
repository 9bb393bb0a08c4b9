import type { Available, Denial } from '../../gate/denial.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { SessionStatus } from '../../session/session.ts';
import type { Json, ToolEffect } from '../../spec/types.ts';

/** A JSON Schema of an object: what a tool takes. */
export interface InputSchema {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: Json };
  readonly required: readonly string[];
  readonly additionalProperties: boolean;
}

/** A tool as an agent's program offers it to its model. */
export interface AgentTool {
  /** The id in the spec's catalogue, or one of {@link CONTROLS}. */
  readonly name: string;
  /** `control`: moves or explains the session instead of touching the world; always there. */
  readonly kind: 'tool' | 'control';
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly effect: ToolEffect;
}

/** The tools that every adapter adds to those of the peripheral. */
export const CONTROLS = ['hop', 'mode', 'status', 'why'] as const;
export type Control = (typeof CONTROLS)[number];

export interface AgentCall {
  readonly name: string;
  /** As the model gave it; unchecked. For `hop` the seeds' wire form is taken too. */
  readonly input: unknown;
  readonly signal?: AbortSignal;
  /** The client's own id of the call: in the transcript it stands under this. */
  readonly callId?: string;
  /** What a person approved after `wants` had asked for it; null: a person was asked and said no. Anything else is still refused. */
  readonly approved?: { readonly hash: string; readonly by: string } | null;
  /** Why the user's own rules for the client refuse the call: it is not carried out. */
  readonly refused?: string;
}

/** What a call came to, ready for a model. */
export interface AgentAnswer {
  /** `refused`: the gate or the tool's own check said no, and `denial` says what to do. `failed`: it ran and could not do its work. */
  readonly status: 'ok' | 'failed' | 'refused';
  /** What the model reads. */
  readonly text: string;
  /** The same as data: a tool's result, a hop's fruit and context, the status, … */
  readonly data: Json;
  readonly denial: Denial | null;
  /** The tools that can be called now are others than before the call. */
  readonly toolsChanged: boolean;
}

/**
 * A session as an agent's program sees it: which tools there are now, one call at a time, and what to tell the model. Every adapter builds on
 * this and on nothing else, so that a session may live in this process (`agentSession`) or in another.
 */
export interface AgentSession {
  readonly id: string;
  /** What may be called here and now: the peripheral's tools that the mode allows, and the controls. */
  tools(): Promise<readonly AgentTool[]>;
  /** Every tool of the spec set, and the controls: for frameworks whose list of tools is fixed when an agent is made. */
  allTools(): Promise<readonly AgentTool[]>;
  /** Never throws for what the agent did. */
  call(call: AgentCall): Promise<AgentAnswer>;
  /** The approval that a person has to give before this `hop` or `mode` call goes through; null where none is missing. A dry run. */
  wants(call: AgentCall): Promise<ApprovalRequest | null>;
  status(): Promise<SessionStatus & { readonly available: Available }>;
  /** What the model is told on entry, and again after a compaction: where it is, what it sees, what it can do, how it can leave. */
  prompt(): Promise<string>;
  /** Lets go of the session; it can be opened again by its id. */
  close(): Promise<void>;
}
