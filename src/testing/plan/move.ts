import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { Json } from '../../base/json.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';

/** One move of a generated test: a request and, for a step, the backend's answer. */
export interface Move {
  /** The name of the move: `start.explore`, `pass.deploy`, `run.pass`, `to.execute`, … */
  readonly name: string;
  readonly asked: AuditRequest;
  readonly report?: ToolReport<Json>;
  /** True if the move is meant to be refused, because rules count refusals. */
  readonly refused?: boolean;
  /** True if the tool's backend throws instead of answering. */
  readonly breaks?: boolean;
  /** Minutes that pass before the move; a negative number sets the clock back. */
  readonly wait?: number;
  /** Validity of an approval in minutes; 0 means that it expires at once. */
  readonly approvalMinutes?: number;
}

export const DEFAULT_TOOL_REPORT: ToolReport<Json> = { outcome: { status: 'ok', result: { seen: true } }, effects: [] };
