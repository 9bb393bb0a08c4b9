import type { Json, SpecSet } from '../../spec/types.ts';

/**
 * The resources of a session for clients, besides its status. They are read from the store, so this also works for a
 * session in another process.
 */
export interface McpReading {
  /** The session's evidence as one readable thread. */
  thread(): Promise<string>;
  /** The spec set that the session is pinned to. */
  spec(): Promise<SpecSet>;
  /** The constraints of a peripheral, as data: all that it allows and forbids. */
  constraints(peripheral: string): Promise<Json>;
}
