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
  /** True if it cannot be a name, such as a list. */
  readonly misformed?: boolean;
  /** True if no backend serves the tool, and the MCP server that would. */
  readonly unserved?: boolean;
  readonly upstream?: string | null;
  /** The effect that the mode forbids; the tools or effects that it allows; the modes on the way, and their needs. */
  readonly effect?: string;
  readonly allowed?: readonly string[];
  readonly modes?: readonly Mode[];
  readonly needs?: readonly string[];
  /** The paths, hosts or agents that the scope allows. */
  readonly scope?: readonly string[];
  /** The limit that is reached: `steps` or `minutes`. */
  readonly limit?: string;
  /** Exits that lead to the same destination. */
  readonly candidates?: readonly string[];
  /** The condition, or the rule in CEL, that does not hold. */
  readonly condition?: string;
  readonly rule?: string;
  /** Fields or facts that are missing. */
  readonly missing?: string | readonly string[];
  /** Problems of the stated fruit, a sentence each. */
  readonly problems?: readonly string[];
  /** The agent, and the agents that the peripheral admits. */
  readonly agent?: string;
  readonly admits?: readonly string[];
  /** Peripherals that the present one delegates to; `agency` if an agent was to run there, `tools` if with tools. */
  readonly delegates?: readonly string[];
  readonly agency?: boolean;
  readonly tools?: boolean;
  /** The action that needs an approval, who asked, and the outcome: see `Approver`. */
  readonly what?: string;
  readonly by?: string;
  readonly pending?: string;
  readonly declined?: string;
  readonly because?: string;
  readonly answer?: string;
  /** The other writer of the session, and the end of its lease. */
  readonly holder?: string;
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
