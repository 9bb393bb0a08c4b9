import { randomUUID } from 'node:crypto';
import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { excerpt } from '../../base/text.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import type { AgentCall } from '../core/agent-session.ts';
import { approvalQuestion, type QuestionOptions } from '../core/approval-question.ts';

/** How long a question may stand before its answer counts no more, in milliseconds. */
const LIFETIME = 30 * 60_000;
const AT_MOST = 100;

/**
 * What a person said to a question. `unticked`: accepted, with no yes in it; that is said to them before it counts as a no. `unasked`: this call
 * comes with no answer to a question of ours.
 */
export type Said = 'yes' | 'no' | 'unticked' | 'dismissed' | 'unasked';

interface Asked {
  readonly call: string;
  readonly hash: string;
  readonly at: number;
  /** The person had accepted it without a yes before. */
  readonly isAgain: boolean;
}

/**
 * The questions that wait for a person at the client. A question is asked by ending the call with it; the client asks, and makes the call again
 * with the answer. What was asked is remembered here, under a name that nobody can guess, so that an answer counts once, for the call and for
 * the bytes that were shown.
 */
export class Questions {
  readonly #open = new Map<string, Asked>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  ask(call: AgentCall, wanted: ApprovalRequest, options: QuestionOptions): InputRequiredResult {
    return this.put(call, approvalQuestion(wanted, options), wanted.hash, options.again === 'unticked');
  }

  /**
   * Asks for a yes to this call.
   *
   * @param hash of what is shown
   */
  put(call: AgentCall, message: string, hash: string, isAgain: boolean): InputRequiredResult {
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
            description: 'Say yes here, then accept: it holds for exactly this, once. To refuse, decline.',
            default: false,
          },
        },
        required: ['approve'],
      },
    });
    return inputRequired({ inputRequests: { approval }, requestState });
  }

  /** Takes the answer that comes with a call, and the hash of what was shown to whoever gave it. */
  take(call: AgentCall, { mcpReq }: ServerContext): { readonly said: Said; readonly hash: string } {
    this.#sweep();
    const state = mcpReq.requestState<unknown>();
    const asked = typeof state === 'string' ? this.#open.get(state) : undefined;
    if (typeof state !== 'string' || asked === undefined || asked.call !== keyOf(call))
      return { said: 'unasked', hash: '' };
    this.#open.delete(state);
    const response = inputResponse(mcpReq.inputResponses, 'approval');
    if (response.kind !== 'elicit') return { said: 'unasked', hash: '' };
    const { hash, isAgain } = asked;
    if (response.action !== 'accept') return { said: response.action === 'cancel' ? 'dismissed' : 'no', hash };
    if (response.content?.['approve'] === true) return { said: 'yes', hash };
    return { said: isAgain ? 'no' : 'unticked', hash };
  }

  #sweep(): void {
    for (const [state, { at }] of this.#open)
      if (this.#open.size > AT_MOST || this.#now() - at > LIFETIME) this.#open.delete(state);
  }
}

const keyOf = ({ name, input }: AgentCall): string => JSON.stringify([name, input]);

/** Who approved, for the evidence: the person at a client, by the client's own name. */
export const personAt = (client: string | undefined): string =>
  client === undefined ? 'operator' : `operator at ${excerpt(client, 60)}`;
