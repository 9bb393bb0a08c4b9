import type { Json } from '../../spec/types.ts';
import type { HookAnswer } from '../core/hook-context.ts';

type Fields = { readonly [name: string]: Json };

/** What a handler has to say to the client. */
export type Reply =
  /** The call does not run; the model reads why. */
  | { readonly kind: 'deny'; readonly why: string }
  /**
   * The call may run, as it was asked for or with another input, of which the model is told `text`. Claude Code decides it as well, by the rules and
   * the permission mode of its user: `decision` goes in the place of that (but a rule that denies or asks holds all the same).
   */
  | {
      readonly kind: 'allow';
      readonly input?: Fields;
      readonly text?: string;
      readonly decision?: 'allow' | 'ask';
      readonly why?: string;
    }
  /** The model is told this. */
  | { readonly kind: 'tell'; readonly event: string; readonly text: string }
  /** The agent does not stop yet; it reads why. */
  | { readonly kind: 'go-on'; readonly why: string }
  /** The person at the client is told this. */
  | { readonly kind: 'remark'; readonly text: string }
  | { readonly kind: 'nothing' };

/** How an allow begins, and nothing else does; the shell around the hook looks for it, and for its end. */
export const ALLOW_BEGINS = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecisionReason":"hopgate ';
/** The last member of every document that we say something in: half an answer does not have it, whatever stands in its strings. */
export const ALLOW_ENDS = ',"continue":true}';

export const NOTHING: Reply = { kind: 'nothing' };

/**
 * A reply in the form that the client obeys whatever it thinks of our JSON: a refusal is exit 2 with its reason on standard error; everything else
 * is one JSON document.
 *
 * @param notice shown to the person at the client, where the form has room for it
 */
export function render(reply: Reply, notice: string | null): HookAnswer {
  if (reply.kind === 'deny') return refuseCall(reply.why);
  const said = { ...bodyOf(reply), ...(notice === null ? {} : { systemMessage: notice }) };
  const isEmpty = Object.keys(said).length === 0;
  return { exit: 0, stdout: isEmpty ? '' : JSON.stringify({ ...said, continue: true }), stderr: '' };
}

/** Exit 2 with a reason that is never empty: without one, a client would let the call through. */
export const refuseCall = (why: string): HookAnswer => ({
  exit: 2,
  stdout: '',
  stderr: why.trim() === '' ? 'hopgate refused this and could not say why' : why,
});

function bodyOf(reply: Exclude<Reply, { kind: 'deny' }>): Fields {
  switch (reply.kind) {
    case 'allow':
      return {
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecisionReason: `hopgate ${reply.why ?? 'let it through'}`,
          ...(reply.decision ? { permissionDecision: reply.decision } : {}),
          ...(reply.input ? { updatedInput: { ...reply.input } } : {}),
          ...(reply.text === undefined ? {} : { additionalContext: reply.text }),
        },
      };
    case 'tell':
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
