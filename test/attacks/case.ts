import type { World } from './attacked-machine.ts';

/** A class of attack: requirements R1 to R18, learned from advisories about earlier systems, and the limits. */
export type AttackClass = `R${number}` | 'limits' | 'control';

/** The required result of a call. */
export type Expectation =
  /** A denial; any code, or this one. */
  | 'refused'
  | 'out-of-scope'
  | 'invalid-action'
  | 'tool-not-allowed'
  /** A denial, a failed outcome, or a command that exits with another status than 0. */
  | 'no-success'
  /** Whatever it answers: nothing leaks and nothing outside the scope changes. */
  | 'contained'
  /** An outcome that is ok, and of a command exit status 0. */
  | 'works';

export type Peripheral = 'explore' | 'edit' | 'test' | 'deploy' | 'reflect';

/**
 * One call that an agent makes. In every string of `args`, `{ROOT}`, `{OUT}` (the tree outside), `{PORT}` and
 * `{SOCKET}` (services of the host), `{ENGINE}` (our pid) and `{MARK}` (a word that no other process has) are filled
 * in.
 */
export interface Case {
  readonly class: AttackClass;
  readonly kind: 'attack' | 'benign';
  readonly peripheral: Peripheral;
  readonly name: string;
  readonly tool: string;
  readonly args: unknown;
  readonly expect: Expectation;
  /** Texts that the result must contain. */
  readonly shows?: readonly string[];
  /** Texts that the result must not contain, in addition to the planted secrets. */
  readonly hides?: readonly string[];
  /** Root-relative files and their required content afterwards; null if the file must not exist. */
  readonly files?: { readonly [path: string]: string | null };
  /** Paths that the result's findings have to name. */
  readonly findings?: readonly string[];
  readonly before?: (world: World) => void;
  /** Reverts the effect of `before`, for the next cases. */
  readonly after?: (world: World) => void;
  /** True if the case needs the ones before it, or a later one needs it: a sample leaves it out. */
  readonly inSequence?: boolean;
}

type More = Partial<Pick<Case, 'shows' | 'hides' | 'files' | 'findings' | 'before' | 'after' | 'inSequence'>>;

/** Makes rows of one peripheral and tool. */
export const rows = (peripheral: Peripheral, tool: string) => ({
  attack: (
    cls: AttackClass,
    name: string,
    args: unknown,
    expect: Expectation = 'contained',
    more: More = {},
  ): Case => ({
    class: cls,
    kind: 'attack',
    peripheral,
    name,
    tool,
    args,
    expect,
    ...more,
  }),
  benign: (cls: AttackClass, name: string, args: unknown, more: More = {}): Case => ({
    class: cls,
    kind: 'benign',
    peripheral,
    name,
    tool,
    args,
    expect: 'works',
    ...more,
  }),
});
