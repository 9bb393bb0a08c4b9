import type { AgentContext } from '@agentclientprotocol/sdk';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { type ApprovalQuestionOptions, renderApprovalQuestion } from '../core/approval-question.ts';

/**
 * Asks the person at the editor for an approval, as a permission request. Only the choice `allow` is a yes: a closed
 * window, a cancelled turn or an unknown choice is a no.
 * @param signal ends the question, for example because the operator answered elsewhere
 */
export async function askPermission(
  editor: AgentContext,
  sessionId: string,
  request: ApprovalRequest,
  options: Partial<ApprovalQuestionOptions>,
  signal: AbortSignal,
): Promise<boolean> {
  const text = renderApprovalQuestion(request, options);
  const { outcome } = await editor.request(
    'session/request_permission',
    {
      sessionId,
      toolCall: {
        toolCallId: `approval-${request.hash.slice(0, 16)}`,
        title: text.split('\n', 1)[0]!,
        kind: 'switch_mode',
        status: 'pending',
        content: [{ type: 'content', content: { type: 'text', text } }],
        rawInput: { hash: request.hash, action: request.action },
      },
      options: [
        { optionId: 'allow', name: 'Approve this request', kind: 'allow_once' },
        { optionId: 'reject', name: 'Decline', kind: 'reject_once' },
      ],
    },
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  return outcome.outcome === 'selected' && outcome.optionId === 'allow';
}
