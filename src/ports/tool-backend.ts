import type { EffectRecord } from '../evidence/bodies.ts';
import type { DenialCode } from '../gate/denial.ts';
import type { ObservedTree, TreeToShip } from '../gate/scope/compare-trees.ts';
import type { ObservedEffectKind } from '../spec/policy/effect-ops.ts';
import type { Fields, Json, PeripheralSpec, ProjectConfig, ScopeRule, ToolSpec } from '../spec/types.ts';

/** One change under the root that a backend or its sandbox observed. */
export interface ObservedEffect extends EffectRecord {
  readonly op: ObservedEffectKind;
}

/** The observed changes; `unobserved` if the call was not watched, which the audit counts as a gap. */
export type ObservedEffects = readonly ObservedEffect[] | 'unobserved';

/**
 * The gate's envelope for one call. A backend enforces it against the real world (links, races, processes) and never
 * widens it. `root` is an absolute path; all other paths are root-relative.
 */
export interface CallEnvelope {
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly peripheral: string;
  /** The peripheral's rule with this repository's overrides applied. */
  readonly scope: ScopeRule;
  /** For `read: session-log`: the only files that may be read. */
  readonly readableFiles: readonly string[] | null;
  readonly config: ProjectConfig;
  /** The `config` of the peripheral in its spec. */
  readonly settings?: PeripheralSpec['config'];
  /** True if the operator opened the shell tools without a sandbox. */
  readonly unsafeNoSandbox: boolean;
  /** The limits of shipping from the peripheral; if absent, only the scope limits shipping. */
  readonly shipping?: ShippingLimits;
  /** The end of the visit's time limit in epoch milliseconds; null or absent without a time limit. */
  readonly deadline?: number | null;
}

/** The changes that a session may ship. */
export interface ShippingLimits {
  /** True if a path is one of the session's own changes. */
  readonly isOwnChange: (path: string) => boolean;
  /** The paths that the session is known to have changed. */
  readonly changed?: readonly string[];
  /** The tested tree, and its approved part; null if entering the peripheral did not depend on a tree. */
  readonly tree: TreeToShip | null;
  /** The message that every commit of the visit must have, from its context; null if the context has none. */
  readonly message: string | null;
  /** The name of the session's agent. */
  readonly agent: string;
}

/** The caller's control over a running call. */
export interface CallControls {
  /**
   * Aborts the call. While a person is asked, the call is refused with `approval-required`; while it runs, the backend
   * kills what it started and reports `failed` with code `aborted`.
   */
  readonly signal?: AbortSignal;
  /** Receives the output of a command while it runs, for a waiting person. The result may omit parts of it. */
  readonly onOutput?: (text: string) => void;
  /** Called when the call has started a command in the background. */
  readonly onBackground?: (command: BackgroundCommand) => void;
  /** The id of the message that the call sends; absent for a new one. */
  readonly messageId?: string;
}

/** A command that continues after its call. */
export interface BackgroundCommand {
  /** Settles when all processes of the command have ended and its output was passed on; never rejects. */
  readonly ended: Promise<void>;
  /** From now on, passes the command's output to this function. */
  follow(onText: (text: string) => void): void;
}

/** A call that the gate has allowed. The backend judges what its text does not show, such as where a link leads. */
export interface ToolCall extends CallControls {
  readonly tool: ToolSpec;
  /** The arguments by parameter name, checked against the catalogue's schemas. Paths are as the agent wrote them. */
  readonly args: Fields;
  readonly envelope: CallEnvelope;
  readonly sessionId: string;
  /** The state that the tool declares: its last reported values, also from before a hop or a restart. */
  readonly state?: Fields;
  /** Aborts the call; the backend kills what it started and reports `failed` with code `aborted`. */
  readonly signal: AbortSignal;
  /**
   * Throws if another writer has taken the session over, as after a suspension of this machine or process. A backend
   * awaits it after work that takes long, before it changes anything.
   */
  readonly assertLease?: () => Promise<void>;
}

/**
 * Outcome of a call.
 *
 * - `ok`: the tool did its work. A command that exits non-zero is `ok` with its `exit` in the result.
 * - `failed`: the tool could not do it (no such file, text to replace not found). `code` is a stable kebab-case word,
 *   `message` the remedy.
 * - `refused`: the call would leave the envelope (a link out of the root, no sandbox). It becomes a denial.
 *
 * A result is anything: the session converts it to JSON, as {@link ToolReport} says.
 */
export type ToolOutcome<Value = unknown> =
  | { readonly status: 'ok'; readonly result: Value }
  | { readonly status: 'failed'; readonly code: string; readonly message: string; readonly result?: Value }
  | ToolRefusal;

export interface ToolRefusal {
  readonly status: 'refused';
  readonly code: Extract<DenialCode, 'out-of-scope' | 'invalid-action' | 'sandbox-unavailable'>;
  /** The wrong parameter, if the refusal is about one. */
  readonly argument?: string;
  readonly message: string;
  readonly remedy: string;
}

/**
 * A backend's answer to a call. A refusal or a failure is an outcome, never an exception. The session converts the
 * values to JSON: a field that is undefined is left out, and a value that JSON cannot express becomes a text such as
 * `[Map]`.
 * @typeParam Value `Json` after the conversion
 */
export interface ToolReport<Value = unknown> {
  readonly outcome: ToolOutcome<Value>;
  readonly effects: ObservedEffects;
  /**
   * Values of the fields that the tool declares under `observes`: the fruit of the visit takes them from here. A field
   * that is left out keeps its value; null means that nothing is known. Ignored if the outcome is a refusal. In a
   * failed call, `pass` becomes null.
   */
  readonly observed?: { readonly [field: string]: Value } | undefined;
  /**
   * Values of the fields that the tool declares under `state`, each at most 32 KiB of JSON. They travel in the
   * backpack, and the next call of a tool that declares them gets them in {@link ToolCall.state}. null removes a field.
   */
  readonly state?: { readonly [field: string]: Value } | undefined;
}

/** Watches allowed calls that another program runs, such as an agent's own Edit: checks before, observes after. */
export interface NativeCallWatcher {
  /**
   * Returns the refusal that `run` would give now; else the state that the call may change, as plain JSON for `after`.
   */
  before(call: ToolCall): Promise<{ readonly refused: ToolRefusal } | { readonly before: Json }>;
  /** Returns the changes since `before`. */
  after(call: ToolCall, before: Json): Promise<ObservedEffects>;
}

export interface TreeObservationRequest extends Pick<CallEnvelope, 'root' | 'config' | 'unsafeNoSandbox'> {
  /** True if a path is one of the session's own changes; absent if the caller needs only the tree. */
  readonly isOwnChange?: ShippingLimits['isOwnChange'];
  readonly changed?: ShippingLimits['changed'];
  readonly agent: string;
  readonly signal: AbortSignal;
}

/** Runs tools. One backend serves one or more tool ids; the session routes by id. */
export interface ToolBackend {
  readonly name: string;
  /** The tool ids it serves. */
  readonly tools: readonly string[];
  /** Never throws because of the agent's input. An error is recorded as outcome `failed`, code `backend-error`. */
  run(call: ToolCall): Promise<ToolReport>;
  /** Set if another program may run these tools under watch. */
  readonly native?: NativeCallWatcher;
  /** Observes the working tree, and the content that a commit of the session's own changes would ship. */
  readonly tree?: (observation: TreeObservationRequest) => Promise<ObservedTree>;
  /** The sha256 of each file that an approval of a call binds: lock files of an install, files that the call names. */
  readonly boundFiles?: (call: ToolCall) => Promise<Fields>;
  /** Ends commands that a session left running; called before a visit's end is recorded. Idempotent. */
  endBackground?(sessionId: string): Promise<void>;
  /** Frees the resources of the backend. Idempotent. */
  close?(): Promise<void>;
}
