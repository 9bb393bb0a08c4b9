import type { Fields, Json } from '../base/json.ts';

export type * from './project-types.ts';

/** The trusted spec. Only `spec/` creates these values, from files that it has checked, so every name is resolved. */

export type { Fields, Json };

/** The name of a mode of the mode gate; gate.yaml names them. See `listModesOfGate`. */
export type Mode = string;

/** The origins of a request. Only the session's owner can act as operator; the clock raises deadlines. */
export const PRINCIPALS = ['agent', 'operator', 'clock'] as const;
export type Principal = (typeof PRINCIPALS)[number];

/** The effects of tools: observe the world, change it, communicate, or change only a world that the session owns. */
export const TOOL_EFFECTS = ['observe', 'act', 'coordinate', 'simulate'] as const;
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

/** The roles of arguments: one scope rule applies to a role in every tool. */
export const ARGUMENT_ROLES = ['path:read', 'path:write', 'command', 'url', 'resource', 'agency', 'text'] as const;
export type ArgumentRole = (typeof ARGUMENT_ROLES)[number];

export interface ToolParameter {
  readonly name: string;
  readonly role: ArgumentRole;
  /** JSON Schema of the value (draft 2020-12). */
  readonly schema: Fields;
  readonly required: boolean;
  readonly description: string;
  /** The upstream's name of the argument, if it differs; only for a tool with {@link ToolSpec.upstream}. */
  readonly as?: string;
}

/** A requirement of each call of a tool: the operator's approval of its arguments, or a CEL rule over them. */
export type ToolGate =
  | { readonly kind: 'approval'; readonly by: 'operator' }
  | { readonly kind: 'when'; readonly cel: string };

/** The tool of an MCP server that does the work of a tool of the catalogue. */
export interface UpstreamTool {
  /** A key of `upstream` in hopgate.yaml. */
  readonly server: string;
  /** The tool's name at the server. */
  readonly tool: string;
  /** sha256 (hex) of the pinned description and schema; a tool with another hash is refused. null if not pinned. */
  readonly schemaHash: string | null;
  /** The part of a folder that the tool reads: `contents` (all files, so none may be masked) or `names`. */
  readonly folders: 'contents' | 'names';
}

export interface ToolSpec {
  readonly id: string;
  readonly purpose: string;
  readonly effect: ToolEffect;
  /** The parameters, in positional order: `args: ["src/a.ts"]` fills the first one. */
  readonly parameters: readonly ToolParameter[];
  readonly limits: { readonly seconds: number; readonly outputBytes: number };
  /** The MCP server that does the work; absent if hopgate itself does it. */
  readonly upstream?: UpstreamTool;
  /** Requirements of each call, which must all hold; absent if there are none. */
  readonly gates?: readonly ToolGate[];
  /**
   * The fields that the tool's backend reports with an outcome, by name; they may become fruit. Absent if there are
   * none.
   */
  readonly observes?: { readonly [field: string]: FruitType };
  /** The fields of session state that the tool's backend keeps in the backpack. Absent if there are none. */
  readonly state?: { readonly [field: string]: FruitType };
}

/**
 * The limits of each argument role under a scope; the same for every tool.
 *
 * - `read`: `root` (all of it but the masks), `session-log` (only files that this session's entries name), `none`.
 * - `write`: root-relative folders or files, compared segment by segment; empty means no writes.
 * - `command`: `none`, `read-only` (in a sandbox with a read-only tree), `contained` (in a sandbox, whose writes are
 *   kept only in `write`), `test` (only the configured test commands), `deploy` (only git and the configured deploy
 *   commands).
 * - `url`: `none`, or `allow-list` (only the configured hosts).
 * - `resource`: patterns of the names of other things (`db:staging/*`), and exclusions; absent means none.
 * - `agency`: the agency peripherals that the peripheral's `delegates` names; absent means none.
 */
export interface ScopeRule {
  readonly read: 'root' | 'session-log' | 'none';
  readonly write: readonly string[];
  readonly command: 'none' | 'read-only' | 'contained' | 'test' | 'deploy';
  readonly url: 'none' | 'allow-list';
  readonly resource?: readonly string[];
  readonly agency?: readonly Delegate[];
}

/** A peripheral's scope: a name of the scope table or an inline `{ paths }`, resolved to its rule. */
export interface Scope {
  /** The scope's name, such as `full-codebase`; `paths` for the inline form. */
  readonly name: string;
  readonly rule: ScopeRule;
}

/** One of the sources of a peripheral's entry. At least one of them must apply. */
export type EntrySource =
  | { readonly kind: 'default' | 'from-any' | 'user-request' | 'agent-request' | 'session-close' }
  | { readonly kind: 'from'; readonly peripheral: string };

export interface EntryRule {
  readonly sources: readonly EntrySource[];
  /** The names of the conditions (see {@link SpecSet.conditions}) that must all hold. */
  readonly conditions: readonly string[];
}

/** An exit: its name, the destinations it opens, and the observed fruit value it implies, if any. */
export interface Exit {
  readonly name: string;
  readonly opens: readonly { readonly to: string; readonly when: string | null }[];
  /** The observed fruit field and value that the exit depends on; null if the agent states the exit. */
  readonly implies: { readonly field: string; readonly value: string } | null;
  /** False in an EDN set whose exits name no destinations; the edges of the set were derived from the entries. */
  readonly bound: boolean;
}

/** The rule for one field of a peripheral's context on entry. */
export interface ContextFieldRule {
  readonly source:
    | { readonly kind: 'inherit' }
    | { readonly kind: 'fruit'; readonly peripheral: string }
    | { readonly kind: 'session-log' };
  readonly optional: boolean;
}

/** The observations that hopgate makes itself. A fruit field may also take its value from {@link ToolSpec.observes}. */
export const FRUIT_OBSERVATIONS = [
  'found',
  'changed-files',
  'changes',
  'result',
  'test-count',
  'failures',
  'committed',
  'pushed',
  'sha',
  'deployed',
  'steps',
  'refusals',
  'bells',
  'whistles',
  'patterns',
  'par',
] as const;
export type FruitObservation = (typeof FRUIT_OBSERVATIONS)[number];

/** The type of a fruit field: one of these words, or the list of values it may take. */
export const FRUIT_TYPES = ['string', 'integer', 'number', 'boolean', 'list', 'object'] as const;
export type FruitType = (typeof FRUIT_TYPES)[number] | readonly string[];

export type FruitField =
  | {
      readonly kind: 'observed';
      readonly type: FruitType;
      /** The source of the value: a {@link FruitObservation}, or a field that a tool observes. */
      readonly from: string;
    }
  | { readonly kind: 'stated'; readonly type: FruitType; readonly optional: boolean };

/** A gate on a destination; it applies to every exit that opens it. */
export type GateRule =
  | { readonly kind: 'approval'; readonly by: 'operator' }
  | { readonly kind: 'when'; readonly cel: string }
  | {
      readonly kind: 'pattern';
      readonly pattern: string;
      /**
       * `selected`: a PSR selected the pattern in this session. `held`: the last PUR of the pattern records that it
       * worked.
       */
      readonly is: 'selected' | 'held';
    };

/** A peripheral in which sub-agents may start. */
export interface Delegate {
  readonly to: string;
  /**
   * The limits of the sub-agent: the limits of both peripherals, or of `to` alone, which may be wider than the
   * parent's.
   */
  readonly within: 'parent' | 'own';
}

/** A peripheral after its files were read: every name resolved, every default filled in. */
export interface PeripheralSpec {
  readonly id: string;
  readonly purpose: string;
  readonly tools: readonly string[];
  readonly scope: Scope;
  readonly entry: EntryRule;
  readonly exits: readonly Exit[];
  readonly context: { readonly [field: string]: ContextFieldRule };
  readonly fruit: { readonly [field: string]: FruitField };
  /**
   * By tool: requirements of its calls in this peripheral, in addition to the gates of the tool. Absent if there are
   * none.
   */
  readonly calls?: { readonly [tool: string]: readonly ToolGate[] };
  readonly gates: { readonly [peripheral: string]: readonly GateRule[] };
  /** The peripherals in which sub-agents may start, in addition to this one; absent if all work here. */
  readonly delegates?: readonly Delegate[];
  /** The agency peripherals in which agents may run for a session here, if `delegates` names any. */
  readonly agencies?: readonly Delegate[];
  readonly limits: { readonly steps: number | null; readonly minutes: number | null };
  /** The ids of the agents that may enter the peripheral; null means any. */
  readonly agents: readonly string[] | null;
  /** `:peripheral/config` and `:output` of EDN sets: passed to backends, never interpreted by the gate. */
  readonly config: Fields;
  readonly output: Fields | null;
}

/** One allowed transition of the mode gate. */
export interface ModeTransition {
  readonly from: Mode;
  readonly to: Mode;
  readonly approval: 'operator' | null;
  readonly summary: boolean;
}

export interface ModeGateSpec {
  readonly initial: Mode;
  readonly effects: { readonly [mode: Mode]: readonly ToolEffect[] };
  /** By mode: the peripherals that may be entered in it; null means any. */
  readonly peripherals: { readonly [mode: Mode]: readonly string[] | null };
  readonly transitions: readonly ModeTransition[];
  /** The mode that the operator's reset leads to, from any mode. */
  readonly reset: Mode;
  /** Minutes without a step after which the clock returns the mode to {@link ModeGateSpec.reset}; null means never. */
  readonly timeoutMinutes: number | null;
}

/** An allowed hop under one exit: the source's exit names the target and the target's entry admits the source. */
export interface Edge {
  readonly from: string;
  readonly exit: string;
  readonly to: string;
  /** The CEL rule of the exit's `{ to, when }`; null if there is none. */
  readonly when: string | null;
  /** The entry sources through which the target admits this source (never empty). */
  readonly sources: readonly EntrySource[];
  /** The target's entry conditions. */
  readonly conditions: readonly string[];
  readonly gates: readonly GateRule[];
  readonly implies: { readonly field: string; readonly value: string } | null;
}

/** The built-in entry condition: a passing test fruit in this session, newer than the last change. */
export const TESTS_PASSED_CONDITION = 'tests-passed';

export type PeripheralOrMode =
  | { readonly kind: 'peripheral'; readonly peripheral: string }
  | { readonly kind: 'mode'; readonly mode: Mode };

/**
 * A requirement that must hold when a peripheral or mode is entered. `result` requires that the last result of the
 * peripheral is this value and that nothing was changed after it. `visited` requires that the session has visited the
 * peripheral. `approval` requires that this very move is approved.
 */
export type PropertyCondition =
  | { readonly kind: 'approval' }
  | { readonly kind: 'mode'; readonly mode: Mode }
  | { readonly kind: 'condition'; readonly name: string }
  | { readonly kind: 'result'; readonly peripheral: string; readonly value: string }
  | { readonly kind: 'visited'; readonly peripheral: string };

/** A property that must be proved for every session of a spec set. `text` is the authored form, as JSON. */
export type SpecProperty = { readonly text: string } & (
  | { readonly kind: 'never-enter'; readonly target: PeripheralOrMode; readonly without: readonly PropertyCondition[] }
  | { readonly kind: 'never-can'; readonly what: 'change' | 'ship'; readonly peripheral: string }
  | { readonly kind: 'eventually'; readonly peripheral: string }
  | { readonly kind: 'before'; readonly first: PeripheralOrMode; readonly then: PeripheralOrMode }
  | { readonly kind: 'exclusive'; readonly of: 'peripherals' | 'tools'; readonly names: readonly string[] }
);

/** A spec set, checked and resolved. `hash` is sha256 (hex) of the RFC 8785 form of everything else. */
export interface SpecSet {
  readonly hash: string;
  /** null if there is no gate.yaml, and so no mode gate. */
  readonly modeGate: ModeGateSpec | null;
  readonly tools: { readonly [id: string]: ToolSpec };
  readonly scopes: { readonly [name: string]: ScopeRule };
  /** Entry conditions that the set defines itself, as CEL. `tests-passed` is built in. */
  readonly conditions: { readonly [name: string]: string };
  readonly peripherals: { readonly [id: string]: PeripheralSpec };
  /** The allowed hops, derived from the peripherals; sorted by from, exit, to. */
  readonly edges: readonly Edge[];
  /** The properties to prove; absent if the set has no properties.yaml. */
  readonly properties?: readonly SpecProperty[];
}
