import type { Io } from '../io.ts';

export type InstallScope = 'project' | 'user';

export interface InstallTarget {
  readonly io: Io;
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly scope: InstallScope;
}

/** The current and the planned text of a file; null if it does not exist. Equal texts mean no change. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** True if the file contains only hopgate's text; then only its name is printed. */
  readonly isOwnFile?: boolean;
}

/** The planned changes, and notes for the person. The plan is printed before anything is written. */
export interface InstallPlan {
  readonly changes: readonly FileChange[];
  /** A folder to keep, even if it becomes empty, because it existed before. */
  readonly keep: string;
  /** Next steps and remaining gaps, one sentence each. */
  readonly notes: readonly string[];
}

/** Installs hopgate permanently in a client program, and removes it. Idempotent; changes only hopgate's own parts. */
export interface Installer {
  /** @throws CliError if a file does not have the required format; then nothing is changed. */
  install(target: InstallTarget): Promise<InstallPlan>;
  uninstall(target: InstallTarget): Promise<InstallPlan>;
}
