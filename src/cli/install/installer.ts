import type { Io } from '../io.ts';

export type InstallScope = 'project' | 'user';

/** Where something is installed. */
export interface InstallTarget {
  readonly io: Io;
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly scope: InstallScope;
}

/** A file as it is and as it is to be; null: not there. The same text on both sides: nothing to do. */
export interface FileChange {
  /** Absolute. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Nothing but hopgate's stands in it: it is shown by its name alone. */
  readonly isOurs?: boolean;
}

/** What is to be done, and what the person has to know. Nothing is written before it is shown. */
export interface InstallPlan {
  readonly changes: readonly FileChange[];
  /** The folder that stays, even if nothing is left in it: it was there before. */
  readonly keep: string;
  /** What to do next, and what stays open, a sentence each. */
  readonly notes: readonly string[];
}

/** Puts hopgate into a client program for good, and takes it out again. Both are idempotent, and leave alone what is not hopgate's. */
export interface Installer {
  /** As `hopgate install` names it. */
  readonly client: string;
  /** @throws CliError where a file cannot be read as what it has to be; nothing is changed then. */
  install(place: InstallTarget): Promise<InstallPlan>;
  uninstall(place: InstallTarget): Promise<InstallPlan>;
}
