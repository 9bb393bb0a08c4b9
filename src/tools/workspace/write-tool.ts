import type { ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { fieldWithFindings } from '../file-findings.ts';
import type { Anchors } from './anchors.ts';
import { putFileOfArgument } from './put-file.ts';
import { invalidArgumentStop, isStop, type ToolStop } from './tool-stop.ts';

/** Runs `write { path, content }`: writes the whole file and creates missing folders. */
export function runWriteTool(call: ToolCall, anchors: Anchors): ToolReport | ToolStop {
  const { content } = call.args;
  if (typeof content !== 'string' || !content.isWellFormed())
    return invalidArgumentStop('content', '"content" must be well-formed text.', 'Give the whole content as a string.');
  const bytes = Buffer.from(content);
  const put = putFileOfArgument(call, anchors, () => bytes);
  if (isStop(put)) return put;
  const { path, created, effect } = put;
  return {
    outcome: { status: 'ok', result: { path, bytes: bytes.length, created, ...fieldWithFindings([effect]) } },
    effects: [effect],
  };
}
