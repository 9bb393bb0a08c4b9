import type { Socket } from 'node:net';
import type { SandboxLayout } from './mounts/layout.ts';

/** The result of a command. A non-zero exit is a result, not an error. */
export interface CommandResult {
  /** null if a signal ended the command. */
  readonly exit: number | null;
  readonly signal: string | null;
  /** UTF-8. Output longer than `outputBytes` is shortened to its head and tail, with a marker between them. */
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly timedOut: boolean;
  /** True if the caller's signal ended the command. */
  readonly aborted: boolean;
  /** True if the command was killed because its output exceeded the flood limit. */
  readonly flooded: boolean;
  /** Wall time of the run. */
  readonly seconds: number;
  /** Number of tries to reach a network that the sandbox does not have; absent if they were not counted. */
  readonly networkTries?: number;
}

/** A command's writes, as host paths that are valid until `inspect` settles; no process runs then. */
export interface OverlayWrites {
  /** overlayfs's upper folder: only changes (deletions are devices 0/0). Never follow a link in it. */
  readonly upper: string;
  /** The tree as the command left it. */
  readonly merged: string;
  /** The files of the `outbox` mount. Never follow a link in it. */
  readonly outbox: string;
  /** The folders of the overlay outside of the root; null if the layout has none. */
  readonly other: Pick<OverlayWrites, 'upper' | 'merged'> | null;
}

export interface CommandOptions {
  /** Wall time after which the whole process tree is killed. */
  readonly seconds: number;
  /** Maximum number of kept bytes for each of stdout and stderr. */
  readonly outputBytes: number;
  readonly stdin?: string | Uint8Array;
  /** Variables added to the layout's environment. */
  readonly env?: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  /** Gets the output while the command runs. */
  readonly onOutput?: ((text: string) => void) | undefined;
  /** With `proxy` in the layout: called for each connection that the command makes to its proxy. */
  readonly onConnection?: (socket: Socket) => void;
  /** For layouts with an overlay: called after a command that ended by itself, before its writes are discarded. */
  readonly inspect?: (view: OverlayWrites, exit: number) => Promise<void>;
}

export type SandboxAvailability =
  | {
      readonly ok: true;
      /** Version of bubblewrap, such as `0.8.0`. */
      readonly version: string;
      /** How each limit is enforced on this host (`processes: cgroup`, `memory: none`, …). */
      readonly limits: { readonly [limit: string]: string };
      /** True if layouts with an overlay work on this machine. */
      readonly overlay: boolean;
      /** True if no socket of the host can be reached through an overlay. */
      readonly unixSockets: boolean;
    }
  | { readonly ok: false; readonly reason: string; readonly remedy: string };

/** Thrown if the sandbox itself failed, not the command in it. */
export class SandboxError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(`[tools/sandbox] ${message}`, options);
    this.name = 'SandboxError';
  }
}

/**
 * Runs a preparation step and wraps its error in a SandboxError.
 * @throws SandboxError for example if the disk has no space for temporary files
 */
export function asSandboxError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof SandboxError || (error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new SandboxError(`the sandbox cannot be prepared: ${(error as Error).message}`, { cause: error });
  }
}

/** Runs commands in layouts. Get one with `detectSandbox`. */
export interface Sandbox {
  readonly availability: SandboxAvailability;
  /**
   * Runs `argv` (without a shell) in `layout`; settles when all of its processes have exited.
   * @throws SandboxError if the sandbox is not available or cannot be set up; the command did not run.
   */
  run(layout: SandboxLayout, argv: readonly string[], options: CommandOptions): Promise<CommandResult>;
}
