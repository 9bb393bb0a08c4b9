import { randomUUID } from 'node:crypto';
import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { textOf } from '../../base/json.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { AgentCall } from '../core/agent-session.ts';
import { type ApprovalQuestionOptions, renderApprovalQuestion } from '../core/approval-question.ts';

/** Milliseconds after which a question expires, and its answer no longer counts. */
const LIFETIME = 30 * 60_000;
/** Maximum number of open questions; above it, the oldest are dropped. */
const MAX_OPEN = 100;

/**
 * A person's answer to a question. If a person accepts the form without ticking yes, the answer is `unticked` and
 * hopgate asks again; the second time it is `unticked-again`, which counts as a no. It is `unasked` if the call carries
 * no answer to a question of hopgate.
 */
type QuestionAnswer = 'yes' | 'no' | 'unticked' | 'unticked-again' | 'dismissed' | 'unasked';

/** The reason why a form that was accepted twice without a yes counts as a no. */
export const FORM_WITHOUT_YES_REASON = 'they accepted the form twice without setting Approve';

interface TakenAnswer {
  readonly answer: QuestionAnswer;
  /** The hash of the content that was shown. */
  readonly hash: string;
  readonly limits?: string;
}
const UNASKED: TakenAnswer = { answer: 'unasked', hash: '' };

const GRANT_FIELD = {
  type: 'string',
  title: 'Later requests too',
  description:
    'Leave it empty to approve this request only. With limits, a yes also covers later requests: 3x, 2h, tests, files, src/',
} as const;

interface AskedQuestion {
  readonly call: string;
  readonly hash: string;
  readonly at: number;
  /** True if the person was asked before and accepted the form without ticking yes. */
  readonly isAgain: boolean;
}

/**
 * The open questions to the person at the client. A call ends with its question; the client asks, and repeats the call
 * with the answer. Each question is stored here under an unguessable id, so that an answer counts once, for this call
 * and for the bytes that were shown.
 */
export class ApprovalQuestions {
  readonly #open = new Map<string, AskedQuestion>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** @param grants true if the person may enter limits, which turn the yes into a grant */
  askApproval(
    call: AgentCall,
    request: ApprovalRequest,
    options: ApprovalQuestionOptions,
    grants: boolean,
  ): InputRequiredResult {
    return this.askYes(
      call,
      renderApprovalQuestion(request, options),
      request.hash,
      options.again === 'unticked',
      grants,
    );
  }

  /** Asks for a yes to this call. @param hash the hash of the shown content */
  askYes(call: AgentCall, message: string, hash: string, isAgain: boolean, grants = false): InputRequiredResult {
    this.#sweep();
    const requestState = randomUUID();
    this.#open.set(requestState, { call: keyOf(call), hash, at: this.#now(), isAgain });
    const approval = inputRequired.elicit({
      mode: 'form',
      message,
      requestedSchema: {
        type: 'object',
        properties: {
          approve: {
            type: 'boolean',
            title: 'Approve',
            description:
              'Say yes here, then accept. The approval is valid for this request only, once. To refuse, decline.',
            default: false,
          },
          ...(grants ? { grant: GRANT_FIELD } : {}),
        },
        required: ['approve'],
      },
    });
    return inputRequired({ inputRequests: { approval }, requestState });
  }

  /** Takes the answer that a call carries, and the hash of the content that was shown with its question. */
  take(call: AgentCall, { mcpReq }: ServerContext): TakenAnswer {
    this.#sweep();
    const state = mcpReq.requestState<unknown>();
    const question = typeof state === 'string' ? this.#open.get(state) : undefined;
    if (typeof state !== 'string' || question === undefined || question.call !== keyOf(call)) return UNASKED;
    this.#open.delete(state);
    const response = inputResponse(mcpReq.inputResponses, 'approval');
    if (response.kind !== 'elicit') return UNASKED;
    const { hash, isAgain } = question;
    if (response.action !== 'accept') return { answer: response.action === 'cancel' ? 'dismissed' : 'no', hash };
    const limits = textOf(response.content?.['grant'])?.trim();
    if (response.content?.['approve'] === true) return { answer: 'yes', hash, ...(limits ? { limits } : {}) };
    return { answer: isAgain ? 'unticked-again' : 'unticked', hash };
  }

  #sweep(): void {
    for (const [state, { at }] of this.#open)
      if (this.#open.size > MAX_OPEN || this.#now() - at > LIFETIME) this.#open.delete(state);
  }
}

const keyOf = ({ name, input }: AgentCall): string => JSON.stringify([name, input]);
