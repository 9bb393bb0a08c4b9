import type { Message } from '../../ports/message-store.ts';
import type { Json, SpecSet } from '../../spec/types.ts';

/** The resources of a session besides its status. Read from the store, so the session may be in another process. */
export interface McpReading {
  /** The session's evidence as one readable thread. */
  thread(): Promise<string>;
  spec(): Promise<SpecSet>;
  /** The constraints of a peripheral, as data: everything that it allows and forbids. */
  constraints(peripheral: string): Promise<Json>;
  /** The messages of the session that its agent has not received yet, in the order of the inbox. */
  inbox(): Promise<readonly Message[]>;
  /**
   * The number of the session's last entry. The host reads it four times a second; if it has changed, the host compares
   * the tools, because the operator may have hopped. Without this method, the next call notices such a change.
   */
  last?(): Promise<number | null>;
  /** A message with its first answer; null if there is none by this id. */
  message(id: string): Promise<{ readonly message: Message; readonly answer: Message | null } | null>;
}
