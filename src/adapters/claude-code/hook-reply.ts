import type { Fields } from '../../base/json.ts';
import type { HookAnswer } from '../core/hook-context.ts';

export type HookReply =
  /** The call does not run; the model reads why. */
  | { readonly kind: 'deny'; readonly why: string }
  /**
   * The call may run, unchanged or with another `input`; the model reads `text`. Claude Code decides the call as well,
   * by its user's rules and permission mode. `decision` replaces that decision, but a rule that denies or asks still
   * applies.
   */
  | {
      readonly kind: 'allow';
      readonly input?: Fields;
      readonly text?: string;
      readonly decision?: 'allow' | 'ask';
      readonly why?: string;
    }
  /** The model reads `text`. `shown` identifies the place that the text describes; it is recorded after delivery. */
  | { readonly kind: 'context'; readonly event: string; readonly text: string; readonly shown?: string }
  /** The agent must not stop yet; it reads why. */
  | { readonly kind: 'go-on'; readonly why: string }
  /** The person at the client reads `text`. */
  | { readonly kind: 'remark'; readonly text: string }
  | { readonly kind: 'nothing' };

/**
 * Every reply that allows a call begins with this text, and no other reply does. The script around the hook checks it
 * and the suffix.
 */
export const ALLOW_REPLY_PREFIX =
  '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecisionReason":"hopgate ';
/** Sentinel that ends every complete reply. JSON strings in a reply cannot contain it, because they escape quotes. */
export const HOOK_REPLY_SUFFIX = ',"continue":true}';

export const NO_REPLY: HookReply = { kind: 'nothing' };

/**
 * Renders a reply. A refusal is exit 2 with its reason on standard error, which the client obeys even if it cannot read
 * hopgate's JSON. Any other reply is one JSON document.
 * @param notice shown to the person at the client; a refusal has no room for it
 */
export function renderHookReply(reply: HookReply, notice: string | null): HookAnswer {
  if (reply.kind === 'deny') return toRefusalAnswer(reply.why);
  const body = { ...bodyOf(reply), ...(notice === null ? {} : { systemMessage: notice }) };
  const isEmpty = Object.keys(body).length === 0;
  return { exit: 0, stdout: isEmpty ? '' : JSON.stringify({ ...body, continue: true }), stderr: '' };
}

/** Exit 2 with a reason that is never empty: without a reason, a client would let the call through. */
export const toRefusalAnswer = (why: string): HookAnswer => ({
  exit: 2,
  stdout: '',
  stderr: why.trim() === '' ? 'hopgate refused this without a reason; ask the operator to run "hopgate doctor"' : why,
});

function bodyOf(reply: Exclude<HookReply, { kind: 'deny' }>): Fields {
  switch (reply.kind) {
    case 'allow':
      return {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecisionReason: `hopgate ${reply.why ?? 'allowed it'}`,
          ...(reply.decision ? { permissionDecision: reply.decision } : {}),
          ...(reply.input ? { updatedInput: { ...reply.input } } : {}),
          ...(reply.text === undefined ? {} : { additionalContext: reply.text }),
        },
      };
    case 'context':
      return { hookSpecificOutput: { hookEventName: reply.event, additionalContext: reply.text } };
    case 'go-on':
      return { decision: 'block', reason: reply.why };
    case 'remark':
      return { systemMessage: `hopgate: ${reply.text}` };
    case 'nothing':
      return {};
    default:
      return reply satisfies never;
  }
}
