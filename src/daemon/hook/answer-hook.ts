import type { ClientProvider } from '../../adapters/core/calls/client-tools.ts';
import type { HookAnswer, HookContext } from '../../adapters/core/hook-context.ts';
import { resultWithin } from '../../base/limited-wait.ts';
import { errorText } from '../../base/text.ts';
import type { Env } from '../../base/user-folders.ts';

type Handle = (event: unknown, context: HookContext, env: Env) => Promise<HookAnswer>;

/** The supported client programs and their hook handlers. */
export const HOOK_HANDLERS: { readonly [client: string]: () => Promise<Handle> } = {
  'claude-code': async () => (await import('../../adapters/claude-code/handle-claude-event.ts')).handleClaudeEvent,
  codex: async () => (await import('../../adapters/codex/handle-codex-event.ts')).handleCodexEvent,
} satisfies { readonly [client in Exclude<ClientProvider, 'mcp'>]: () => Promise<Handle> };

/** The answer if hopgate fails. Claude Code and Codex treat it as a refusal, and show the reason to the model. */
const faultAnswer = (why: string): HookAnswer => ({
  exit: 2,
  stdout: '',
  stderr: `hopgate could not decide this call, so it is refused: ${why.trim() || 'no reason was given'}\nRepeat the call; if it fails again, the operator should run "hopgate doctor".\n`,
});

/**
 * Answers one hook event. Never throws. An unreadable event, a failed handler, an invalid answer and a missed deadline
 * are refusals, so that no fault allows a call.
 * @param deadlineMs time limit of the handler
 */
export async function answerHook(
  client: string,
  rawStdin: string,
  env: Env,
  context: HookContext,
  {
    deadlineMs = 24_500,
    handlers = HOOK_HANDLERS,
  }: { readonly deadlineMs?: number; readonly handlers?: typeof HOOK_HANDLERS } = {},
): Promise<HookAnswer> {
  const late = faultAnswer(`it took longer than ${deadlineMs / 1000} s`);
  const handled = handleEvent(client, rawStdin, env, context, handlers);
  const { onDelivered, ...answer } = await resultWithin(deadlineMs, handled, late);
  await onDelivered?.().catch(() => {});
  return answer;
}

async function handleEvent(
  client: string,
  rawStdin: string,
  env: Env,
  context: HookContext,
  handlers: typeof HOOK_HANDLERS,
): Promise<HookAnswer> {
  try {
    const load = Object.hasOwn(handlers, client) ? handlers[client] : undefined;
    if (!load)
      return faultAnswer(`there is no client program "${client}" (known: ${Object.keys(handlers).sort().join(', ')})`);
    const handle = await load();
    return checkAnswer(await handle(JSON.parse(rawStdin), context, env));
  } catch (error) {
    if (error instanceof SyntaxError) return faultAnswer(`its input is not JSON (${error.message})`);
    return faultAnswer(errorText(error));
  }
}

/** Returns the answer in the form that the client expects. An invalid answer becomes a refusal. */
function checkAnswer({ exit, stdout, stderr, onDelivered }: HookAnswer): HookAnswer {
  if (exit === 0 && typeof stdout === 'string')
    return { exit, stdout, stderr: '', ...(onDelivered && { onDelivered }) };
  if (exit === 2 && typeof stderr === 'string' && stderr.trim() !== '') return { exit, stdout: '', stderr };
  return faultAnswer(exit === 2 ? 'no reason was given' : 'the answer is invalid');
}
