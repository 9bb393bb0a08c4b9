import { join } from 'node:path';
import type { Item } from '../../adapters/core/transcript/transcript-items.ts';
import { shellWord } from '../../base/text.ts';
import { homeFolder } from '../../base/user-folders.ts';
import type { StoredConversation } from '../../daemon/conversation-files.ts';
import type { SessionStatus } from '../../session/status.ts';
import { callsWithoutHookWarning } from '../client/calls-without-hook.ts';
import { moveInWords } from '../client/session-place.ts';
import { wroteSince } from '../client/wrote-since.ts';
import { type Io, note } from '../io.ts';

export interface CodexEnd {
  readonly root: string;
  readonly sessionId: string;
  readonly code: number;
  readonly before: SessionStatus;
  readonly after: SessionStatus;
  /** The sandbox that Codex was last started with; `wanted` is the one that the session's peripheral now grants. */
  readonly sandbox: string;
  readonly wanted: string;
  readonly begun: string;
  readonly conversations: readonly StoredConversation[];
  /** Calls that Codex reports it ran in this session without a hook. */
  readonly callsWithoutHook: readonly Item[];
  /** True if no person was at its screen: `codex exec`. */
  readonly isScript: boolean;
  readonly env: Io['env'];
}

/** Prints the end of the session on stderr. The exit code is 1 if Codex failed or its hooks were silent. */
export function showCodexEnd(io: Io, end: CodexEnd): void {
  const { code, after } = end;
  const missingHooks = leftAtOnce(end)
    ? null
    : (hookWarning(end.conversations, end.begun) ?? callsWithoutHookWarning('Codex', end.callsWithoutHook));
  io.exitCode = code === 0 && missingHooks === null ? 0 : 1;
  if (io.json) {
    const { sessionId, root } = end;
    io.stderr.write(
      `${JSON.stringify({ type: 'end', session: sessionId, root, exit: code, missingHooks, state: after })}\n`,
    );
    return;
  }
  note(io, moveInWords(end.before, after));
  if (missingHooks !== null) note(io, `WARNING: ${missingHooks}`);
  for (const line of openEnds(end)) note(io, line);
}

/** A warning about missing hooks, or null. Codex silently skips untrusted or disabled hooks. */
export function hookWarning(conversations: readonly StoredConversation[], since: string): string | null {
  const main = conversations.filter(({ conversation }) => conversation.agentId === null);
  if (main.some(({ notes }) => typeof notes['begun'] === 'string' && notes['begun'] >= since)) return null;
  return main.length === 0
    ? "none of hopgate's hooks was called: Codex's own tools were limited only by its sandbox, and not observed. Run hopgate doctor."
    : 'Codex called no hook at its start. Run hopgate doctor.';
}

/** True if the user quit before the first turn: Codex begins to call hooks and to record with the first turn. */
const leftAtOnce = ({ isScript, conversations, env, begun }: CodexEnd): boolean =>
  !isScript &&
  conversations.length === 0 &&
  !wroteSince(join(env['CODEX_HOME'] || join(homeFolder(env), '.codex'), 'sessions'), begun);

function openEnds({ root, sessionId, after, sandbox, wanted, isScript, conversations }: CodexEnd): readonly string[] {
  const lines = [];
  const thread = conversations.find(({ conversation }) => conversation.agentId === null)?.conversation.id;
  const args = isScript ? ['exec …'] : thread === undefined ? [] : ['resume', thread];
  const at = `--session ${sessionId} --root ${shellWord(root)}`;
  if (!after.closed) lines.push(`continue: ${['hopgate codex', at, ...args].join(' ')}`);
  if (!after.closed && sandbox !== wanted)
    lines.push(
      `Codex's own sandbox was ${sandbox}; for the session's present peripheral it will be ${wanted} at the next start${isScript ? ' (--follow resumes by itself)' : ''}`,
    );
  lines.push(`check what happened: hopgate verify ${sessionId} --root ${shellWord(root)}`);
  return lines;
}
