import type { SandboxLayout } from './mounts/layout.ts';

/** What came of a command. A command that exits non-zero is a result, not an error. */
export interface CommandResult {
  /** null when a signal ended it. */
  readonly exit: number | null;
  readonly signal: string | null;
  /** UTF-8; head and tail with a marker between them where it was longer than the cap. */
  readonly stdout: string;
  readonly stderr: string;
  /** Output was left out. */
  readonly truncated: boolean;
  readonly timedOut: boolean;
  /** The caller's signal ended it. */
  readonly aborted: boolean;
  /** It was ended because it flooded its output. */
  readonly flooded: boolean;
  /** Wall time. */
  readonly seconds: number;
}

/** What a command wrote to its layout's overlay: host paths that stand until `inspect` settles, when no process of the sandbox lives any more. */
export interface OverlayView {
  /** Only what changed: overlayfs's upper folder (deletions are character devices 0/0). Never follow a link in it. */
  readonly upper: string;
  /** The tree as the command left it. */
  readonly merged: string;
}

export interface CommandOptions {
  /** Wall time after which the whole process tree is killed. */
  readonly seconds: number;
  /** How many bytes of stdout and stderr each are kept. */
  readonly outputBytes: number;
  readonly stdin?: string | Uint8Array;
  /** On top of the layout's environment. */
  readonly env?: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  /** Called after the command ended by itself (not killed), in a layout with an overlay, while what it wrote is still there. */
  readonly inspect?: (view: OverlayView) => Promise<void>;
}

export type SandboxAvailability =
  | {
      readonly ok: true;
      /** Of bubblewrap, such as `0.8.0`. */
      readonly version: string;
      /** Which limits hold here (`processes: cgroup`, `memory: none`, …), and how. */
      readonly limits: { readonly [limit: string]: string };
      /** Layouts with an overlay work here. */
      readonly overlay: boolean;
      /** And no socket of the host can be reached through one. */
      readonly unixSockets: boolean;
    }
  | { readonly ok: false; readonly reason: string; readonly remedy: string };

/** The sandbox itself failed, as opposed to the command in it. */
export class SandboxError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(`[tools/sandbox] ${message}`, options);
    this.name = 'SandboxError';
  }
}

/**
 * Does what has to be done before a command.
 *
 * @throws SandboxError where there is no place for temporary files, say
 */
export function prepared<T>(work: () => T): T {
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
   * Runs `argv` (no shell) in `layout`; settles when no process of it lives any more.
   *
   * @throws SandboxError if the sandbox is not available or cannot be set up (the command did not run then).
   */
  run(layout: SandboxLayout, argv: readonly string[], options: CommandOptions): Promise<CommandResult>;
}
