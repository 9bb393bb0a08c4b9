import type { DenialCode } from '../gate/denial.ts';
import type { Json, ProjectConfig, ScopeRule, ToolSpec } from '../spec/types.ts';
import type { ObservedEffects } from './effects.ts';

/**
 * What the gate granted for one call. A backend enforces it against the real world (links, races, processes); it never widens it. All paths
 * are absolute for `root` and root-relative elsewhere.
 */
export interface Grant {
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly peripheral: string;
  /** The peripheral's rule with this repository's overrides applied. */
  readonly scope: ScopeRule;
  /** For `read: session-log`: the only files that may be read. */
  readonly readableFiles: readonly string[] | null;
  readonly config: ProjectConfig;
  /** The operator opened the shell tools although no sandbox is there. */
  readonly unsafeNoSandbox: boolean;
}

export interface ToolCall {
  readonly tool: ToolSpec;
  /** By parameter name, checked against the catalogue's schemas. Paths are as the agent wrote them. */
  readonly args: { readonly [name: string]: Json };
  readonly grant: Grant;
  readonly sessionId: string;
  /** Aborts the call; the backend kills what it started and reports `failed` with code `aborted`. */
  readonly signal: AbortSignal;
}

/**
 * What came of a call.
 *
 * - `ok`: the tool did its work; a command that exits non-zero is `ok` with its `exit` in the result.
 * - `failed`: it could not (no such file, text to replace not found). `code` is a stable kebab-case word, `message` says what to do.
 * - `refused`: the world showed that the call leaves the envelope (a link out of the root, no sandbox); becomes a denial.
 */
export type ToolOutcome =
  | { readonly status: 'ok'; readonly result: Json }
  | { readonly status: 'failed'; readonly code: string; readonly message: string; readonly result?: Json }
  | ToolRefusal;

export interface ToolRefusal {
  readonly status: 'refused';
  readonly code: Extract<DenialCode, 'out-of-scope' | 'invalid-action' | 'sandbox-unavailable'>;
  /** The parameter at fault, if one is. */
  readonly argument?: string;
  readonly message: string;
  readonly remedy: string;
}

export interface ToolReport {
  readonly outcome: ToolOutcome;
  readonly effects: ObservedEffects;
}

/** For calls that the gate lets through and another program runs: an agent's own Edit. What it may touch is checked before, and seen after. */
export interface NativeWatch {
  /** What `run` would refuse in the world as it stands; else what the call may change, as plain JSON, to be handed to `after`. */
  before(call: ToolCall): Promise<{ readonly refused: ToolRefusal } | { readonly before: Json }>;
  /** What was changed since `before`. */
  after(call: ToolCall, before: Json): Promise<ObservedEffects>;
}

/** Runs tools. One backend serves one or more tool ids; the session routes by id. */
export interface ToolBackend {
  readonly name: string;
  /** The tool ids it serves. */
  readonly tools: readonly string[];
  /** Never throws for what the agent did; a thrown error is a broken world and is recorded as outcome `failed`, code `backend-error`. */
  run(call: ToolCall): Promise<ToolReport>;
  /** Set where its tools may be run by another program under watch. */
  readonly native?: NativeWatch;
  /** Frees what the backend holds. Idempotent. */
  close?(): Promise<void>;
}
