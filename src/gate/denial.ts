import type { Mode } from '../spec/types.ts';

/** Every code of a refusal. A new code does not compile until `describe-denial.ts` has its message and remedy. */
export const DENIAL_CODES = [
  'unknown-tool',
  'tool-not-allowed',
  'invalid-action',
  'out-of-scope',
  'mode-forbids',
  'mode-not-allowed',
  'summary-required',
  'no-peripheral',
  'already-active',
  'hop-not-allowed',
  'exit-not-met',
  'entry-not-met',
  'condition-failed',
  'approval-required',
  'approval-invalid',
  'missing-context',
  'invalid-fruit',
  'limit-reached',
  'sandbox-unavailable',
  'agent-not-allowed',
  'session-closed',
  'session-busy',
  'lease-expired',
] as const;
/** The reason of a refusal, for programs. Messages may change; codes do not. */
export type DenialCode = (typeof DENIAL_CODES)[number];

/** One leg of a path through the hop graph. */
export interface WayLeg {
  readonly from: string | null;
  readonly exit: string | null;
  readonly to: string;
  /** The needs of this leg in words (`approval by operator`, `tests-passed`, `result is pass`). */
  readonly needs: readonly string[];
  /** The mode changes before this leg, in order; absent if the present mode admits the leg. */
  readonly modes?: readonly ModeStep[];
  /** The mode changes after this leg, before the requested tool can be called; absent if none is needed. */
  readonly modesAfter?: readonly ModeStep[];
}

/** A change of mode, with its needs in words. */
export interface ModeStep {
  readonly to: Mode;
  readonly needs: readonly string[];
}

/** The actions that are available now: part of every denial, and the result of `session.available()`. */
export interface Available {
  readonly peripheral: string | null;
  readonly mode: Mode | null;
  /** Tools that the peripheral and the mode allow now. Arguments are judged at each call. */
  readonly tools: readonly string[];
  /**
   * The possible hops; while the session is in no peripheral, the possible starts. Each lists its needs, also those
   * that are met, but not context that exists already.
   */
  readonly hops: readonly WayLeg[];
  readonly modes: readonly ModeStep[];
}

/** The details of a denial; each code uses some of the fields. Texts of the request are cut at 2000 characters. */
type DenialDetails = {
  readonly tool?: string | null;
  readonly argument?: string | null;
  readonly value?: string | number | boolean | null;
  /** The peripheral that the session is in. */
  readonly peripheral?: string;
  /** The source of a hop, a delegation, an approval or a mode change; `to` is its destination. */
  readonly from?: string | null;
  readonly to?: string;
  readonly exit?: string | null;
  readonly mode?: Mode | null;
  /** The reason for the refusal, as a clause. */
  readonly why?: string;
  /** The next step; absent if the code alone gives it. */
  readonly remedy?: string;
  /** The known name that is nearest to an unknown one. */
  readonly suggestion?: string | null;
  /** True if no mode, peripheral or exit has this name. */
  readonly unknown?: boolean;
  /** True if the value of `to` cannot be a name, because it is a list, for example. */
  readonly misformed?: boolean;
  /** True if no backend serves the tool. */
  readonly unserved?: boolean;
  /** The MCP server to which the unserved tool is bound; null if to none. */
  readonly upstream?: string | null;
  /** The effect of the tool, which the mode forbids. */
  readonly effect?: string;
  /** The tools, effects or peripherals that are allowed instead. */
  readonly allowed?: readonly string[];
  /** The mode changes on the path to a mode in which the request is allowed. */
  readonly modes?: readonly ModeStep[];
  /** The paths, hosts or agents that the scope grants. */
  readonly scope?: readonly string[];
  /** The limit that is reached: `steps` or `minutes`. */
  readonly limit?: string;
  /** The exits that lead to the requested destination. */
  readonly candidates?: readonly string[];
  /** The name of the condition that does not hold. */
  readonly condition?: string;
  /** The CEL rule that does not hold. */
  readonly rule?: string;
  /** Fields or facts that are missing. */
  readonly missing?: string | readonly string[];
  /** The problems of the stated fruit, one sentence each. */
  readonly problems?: readonly string[];
  /** The agent that may not enter the peripheral. */
  readonly agent?: string;
  /** The agents that the peripheral admits. */
  readonly admits?: readonly string[];
  /** The peripherals that the present one delegates to. */
  readonly delegates?: readonly string[];
  /** True if the request was a run of the agency. */
  readonly agency?: boolean;
  /** True if a run of the agency was refused because of the tools of its peripheral. */
  readonly tools?: boolean;
  /** The action that needs an approval, in words. */
  readonly what?: string;
  /** The principal of the request; for a refused command, the tool that can run it. */
  readonly by?: string;
  /** The id of the request for approval, which waits for an answer. */
  readonly pending?: string;
  /** The person who declined the request for approval. */
  readonly declined?: string;
  /** The person's reason for declining the request. */
  readonly because?: string;
  /** The reason why the request for approval has no answer, as a clause. */
  readonly answer?: string;
  /** The other writer of the session. */
  readonly holder?: string;
  /** The time when the other writer's lease ends. */
  readonly until?: string;
};

/**
 * A refusal as a value. It contains everything that the agent needs to recover without help: the problem (`message`),
 * the next step (`remedy`), the available actions and, if a tool or peripheral is elsewhere, the shortest path to it.
 */
export interface Denial {
  readonly code: DenialCode;
  readonly message: string;
  readonly remedy: string;
  readonly about: DenialDetails;
  readonly available: Available;
  /** The shortest path to the requested tool or peripheral; null if there is none or none is needed. */
  readonly way: readonly WayLeg[] | null;
}
