import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { claudeFolder } from '../../base/user-folders.ts';
import { callsWithoutHookWarning } from '../client/calls-without-hook.ts';
import { type ClientEnd, didUserQuitAtOnce, mainConversationIdOf, showClientEnd } from '../client/client-end.ts';
import type { Io } from '../io.ts';
import { missingHooksOfSession } from './list-missing-hooks.ts';

/** Reports the client's run on stderr. The exit code is the client's, but 1 instead of 0 if hooks were missing. */
export function showClaudeEnd(io: Io, end: ClientEnd): void {
  const missingHooks = didUserQuitAtOnce(end, join(claudeFolder(io.env), 'projects')) ? [] : missingHooksOf(end);
  io.exitCode = (end.code === 0 && missingHooks.length > 0 ? 1 : end.code) as Io['exitCode'];
  const main = resumableConversationOf(end);
  showClientEnd(io, end, missingHooks, ['claude', ...(main === null ? [] : ['--resume', main])]);
}

/**
 * The id of the main conversation; null without a transcript, for example if the user asked to resume an unknown
 * conversation.
 */
function resumableConversationOf({ conversations }: ClientEnd): string | null {
  const main = conversations.find(({ conversation }) => conversation.agentId === null);
  const transcript = main?.notes['transcript'];
  return main && typeof transcript === 'string' && existsSync(transcript) ? main.conversation.id : null;
}

/** Events of this run that the hooks should have reported but did not. */
function missingHooksOf(end: ClientEnd): readonly string[] {
  if (mainConversationIdOf(end) === null)
    return [
      "none of hopgate's hooks was called: the agent's own tools were neither checked nor observed. Run hopgate doctor.",
    ];
  const noticed = end.conversations
    .flatMap(missingHooksOfSession)
    .flatMap(({ at, text }) => (at >= end.begun ? [text] : []));
  const bypassed = callsWithoutHookWarning('Claude Code', end.callsWithoutHook);
  return [...noticed, ...(bypassed === null ? [] : [bypassed])];
}
