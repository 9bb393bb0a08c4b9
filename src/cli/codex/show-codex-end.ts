import { join } from 'node:path';
import { codexFolder } from '../../base/user-folders.ts';
import type { StoredConversation } from '../../daemon/conversation-files.ts';
import { callsWithoutHookWarning } from '../client/calls-without-hook.ts';
import { type ClientEnd, didUserQuitAtOnce, mainConversationIdOf, showClientEnd } from '../client/client-end.ts';
import type { Io } from '../io.ts';

interface CodexEnd extends ClientEnd {
  /** The sandbox that Codex was last started with. */
  readonly sandbox: string;
  /** The sandbox that the session's present peripheral allows. */
  readonly allowedSandbox: string;
}

/** Reports Codex's run on stderr. The exit code is 1 if Codex failed, or if hooks were missing. */
export function showCodexEnd(io: Io, end: CodexEnd): void {
  const { isScript, after, sandbox, allowedSandbox } = end;
  // Codex begins to call hooks and to record with the first turn.
  const missingHooks = didUserQuitAtOnce(end, join(codexFolder(io.env), 'sessions'))
    ? null
    : (codexHookWarning(end.conversations, end.begun) ?? callsWithoutHookWarning('Codex', end.callsWithoutHook));
  io.exitCode = end.code === 0 && missingHooks === null ? 0 : 1;
  const main = mainConversationIdOf(end);
  const other = `Codex's own sandbox was ${sandbox}; for the session's present peripheral it will be ${allowedSandbox} at the next start${isScript ? ' (--follow resumes by itself)' : ''}`;
  showClientEnd(
    io,
    end,
    missingHooks,
    ['codex', ...(isScript ? ['exec …'] : main === null ? [] : ['resume', main])],
    after.closed || sandbox === allowedSandbox ? [] : [other],
  );
}

/** A warning about missing hooks, or null. Codex silently skips untrusted or disabled hooks. */
export function codexHookWarning(conversations: readonly StoredConversation[], since: string): string | null {
  const main = conversations.filter(({ conversation }) => conversation.agentId === null);
  if (main.some(({ notes }) => typeof notes['begun'] === 'string' && notes['begun'] >= since)) return null;
  return main.length === 0
    ? "none of hopgate's hooks was called: Codex's own tools were limited only by its sandbox, and not observed. Run hopgate doctor."
    : 'Codex called no hook at its start. Run hopgate doctor.';
}
