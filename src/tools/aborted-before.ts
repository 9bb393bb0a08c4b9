import type { ToolCall, ToolReport } from '../ports/tool-backend.ts';

/** The report of a call that was aborted before its tool did anything; null if the tool may begin. */
export const reportIfAborted = ({ signal }: Pick<ToolCall, 'signal'>): ToolReport | null =>
  signal.aborted
    ? { outcome: { status: 'failed', code: 'aborted', message: 'The call was aborted.' }, effects: [] }
    : null;
