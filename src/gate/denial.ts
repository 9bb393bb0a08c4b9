import type { Mode } from '../spec/types.ts';

/** Every reason for a refusal. Closed: a new one fails the build until `describe-denial.ts` has words for it. */
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
export type DenialCode = (typeof DENIAL_CODES)[number];

/** One leg of a path through the hop graph. */
export interface WayLeg {
  readonly from: string | null;
  readonly exit: string | null;
  readonly to: string;
  /** The requirements of this leg, in words (`approval by operator`, `tests-passed`, `result is pass`). */
  readonly needs: readonly string[];
  /** Changes of mode before this leg, in their order; absent if the mode already admits it. */
  readonly modes?: readonly ModeStep[];
  /** Changes of mode after this leg, before the requested tool can be called; absent if none is needed. */
  readonly modesAfter?: readonly ModeStep[];
}

/** A change of mode, and its requirements in words. */
export interface ModeStep {
  readonly to: Mode;
  readonly needs: readonly string[];
}

/** The actions available from here: part of every denial, and the result of `session.available()`. */
export interface Available {
  readonly peripheral: string | null;
  readonly mode: Mode | null;
  /** Tools that peripheral and mode allow now; arguments are judged per call. */
  readonly tools: readonly string[];
  /**
   * The possible hops, with their needs that are not met. While the session is in no peripheral: the possible starts.
   */
  readonly hops: readonly WayLeg[];
  readonly modes: readonly ModeStep[];
}

/**
 * The data behind the code of a denial; each code uses some of it. Texts of the request are cut at 2000 characters.
 */
export type DenialAbout = {
  readonly tool?: string | null;
  readonly argument?: string | null;
  readonly value?: string | number | boolean | null;
  /** The present peripheral. */
  readonly peripheral?: string;
  /** The source and the destination of a hop, a delegation, an approval or a change of mode. */
  readonly from?: string | null;
  readonly to?: string;
  readonly exit?: string | null;
  readonly mode?: Mode | null;
  /** The reason, as a clause. */
  readonly why?: string;
  /** The next step, if the code alone does not give it. */
  readonly remedy?: string;
  /** Names that are nearest to an unknown one. */
  readonly suggestion?: string | null;
  /** True if no mode or peripheral has this name. */
  readonly unknown?: boolean;
  /** True if the value of `to` cannot be a name, such as a list. */
  readonly misformed?: boolean;
  /** True if no backend serves the tool. */
  readonly unserved?: boolean;
  /** The MCP server to which the unserved tool is bound; null if to none. */
  readonly upstream?: string | null;
  /** The effect that the mode forbids. */
  readonly effect?: string;
  /** The tools, effects or peripherals that are allowed instead. */
  readonly allowed?: readonly string[];
  /** The modes on the path to a mode that allows the request. */
  readonly modes?: readonly Mode[];
  /** The requirements of the changes to these modes, in words. */
  readonly needs?: readonly string[];
  /** The paths, hosts or agents that the scope allows. */
  readonly scope?: readonly string[];
  /** The limit that is reached: `steps` or `minutes`. */
  readonly limit?: string;
  /** Exits that lead to the same destination. */
  readonly candidates?: readonly string[];
  /** The condition that does not hold. */
  readonly condition?: string;
  /** The CEL rule that does not hold. */
  readonly rule?: string;
  /** Fields or facts that are missing. */
  readonly missing?: string | readonly string[];
  /** Problems of the stated fruit, a sentence each. */
  readonly problems?: readonly string[];
  /** The agent that may not enter the peripheral. */
  readonly agent?: string;
  /** The agents that the peripheral admits. */
  readonly admits?: readonly string[];
  /** The peripherals that the present one delegates to. */
  readonly delegates?: readonly string[];
  /** True if the request was a run of the agency. */
  readonly agency?: boolean;
  /** True if that run was refused because of the tools of its peripheral. */
  readonly tools?: boolean;
  /** The action that needs an approval, in words. */
  readonly what?: string;
  /** The principal of the request; for a refused command, the tool that runs it. */
  readonly by?: string;
  /** The id under which the request for approval waits. */
  readonly pending?: string;
  /** The person who declined the request. */
  readonly declined?: string;
  /** The words of that person. */
  readonly because?: string;
  /** The reason why there is no answer, as a clause. */
  readonly answer?: string;
  /** The other writer of the session. */
  readonly holder?: string;
  /** The end of the other writer's lease. */
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
  readonly about: DenialAbout;
  readonly available: Available;
  /** The shortest path to the requested tool or peripheral; null if there is none or none is needed. */
  readonly way: readonly WayLeg[] | null;
}
