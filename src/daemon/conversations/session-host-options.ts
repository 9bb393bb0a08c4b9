import type { Env } from '../../base/user-folders.ts';
import type { OpenOptions } from '../../open-options.ts';

export interface SessionHostOptions {
  /** The variables that locate the state: `XDG_STATE_HOME`, `HOME`. */
  readonly env: Env;
  /** How long a session stays open and leased after its last use, in milliseconds; 0 closes it at once. */
  readonly keepOpenMs: number;
  /** How long a call waits for a busy session, in milliseconds. Default 6000. */
  readonly waitMs?: number;
  /**
   * Called before a call waits for a session that another process writes. The call waits until this function has
   * finished.
   */
  readonly onHeldElsewhere?: () => Promise<void>;
  /** Command that runs a stored call. The call's ticket is its last argument. */
  readonly runCommand?: string;
  /** Exports spans of every session; see `OpenOptions`. */
  readonly telemetry?: OpenOptions['telemetry'];
  /** Maximum size of the write-ahead log, in pages; see `sqliteStore`. */
  readonly checkpointPages?: number;
}

/** The calling process, such as a hook or an MCP server: its environment and process id. */
export interface CallingProcess {
  /** `HOPGATE_SESSION` names the session to join, `HOPGATE_PERIPHERAL` the first peripheral of a new one. */
  readonly env: Env;
  /** null if not known. */
  readonly pid: number | null;
  /** True if a new session is observe-only. Never read from the environment, which a repository can change. */
  readonly observe?: boolean;
}
