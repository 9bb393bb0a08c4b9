import type { Approver } from '../../ports/approver.ts';
import type { Inspector } from '../../ports/inspector.ts';
import type { ToolBackend } from '../../ports/tool-backend.ts';
import type { ProjectConfig } from '../../spec/types.ts';
import type { SessionWriterParts } from '../session-writer.ts';

export interface SessionParts extends Omit<SessionWriterParts, 'pin' | 'observer'> {
  readonly config: ProjectConfig;
  readonly backends: readonly ToolBackend[];
  readonly approver: Approver | null;
  readonly inspector?: Inspector;
  /** Returns the person who revoked a grant; null if nobody did. Called each time that a grant could be used. */
  readonly revokedBy?: (grant: string) => string | null;
  /** Closes the resources that were opened for this session: a store, backends. */
  readonly dispose?: () => Promise<void>;
}
