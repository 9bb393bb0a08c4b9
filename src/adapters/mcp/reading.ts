import type { Json, SpecSet } from '../../spec/types.ts';

/** What a client may read of a session beside its status. Read from the store, so that it works for a session in another process too. */
export interface McpReading {
  /** The session's evidence as one readable thread. */
  thread(): Promise<string>;
  /** The spec set that the session is pinned to. */
  spec(): Promise<SpecSet>;
  /** Everything that a peripheral allows and forbids, as data. */
  constraints(peripheral: string): Promise<Json>;
}
