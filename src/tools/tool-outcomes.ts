import type { ToolCall, ToolOutcome, ToolRefusal, ToolReport } from '../ports/tool-backend.ts';

export const ABORTED_OUTCOME: Extract<ToolOutcome, { status: 'failed' }> = {
  status: 'failed',
  code: 'aborted',
  message: 'The call was aborted.',
};

/** The report of a call that was aborted before its tool did anything; null if the tool may begin. */
export const reportIfAborted = ({ signal }: Pick<ToolCall, 'signal'>): ToolReport | null =>
  signal.aborted ? { outcome: ABORTED_OUTCOME, effects: [] } : null;

/** The refusal of a call whose argument has no meaning for the tool. */
export const invalidCall = (argument: string, message: string, remedy: string): ToolRefusal => ({
  status: 'refused',
  code: 'invalid-action',
  argument,
  message,
  remedy,
});
