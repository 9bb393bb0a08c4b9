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
import { noticedIn } from './missing-hooks.ts';

export interface ClaudeEnd {
  readonly root: string;
  readonly sessionId: string;
  readonly code: number;
  readonly before: SessionStatus;
  readonly after: SessionStatus;
  readonly conversations: readonly StoredConversation[];
  readonly begun: string;
  /** Calls that Claude Code reports it ran in this session without a hook. */
  readonly callsWithoutHook: readonly Item[];
  /** True if no person was at its screen: `claude -p`. */
  readonly isScript: boolean;
  readonly env: Io['env'];
}

/** Prints the end of the session on stderr. Returns the client's exit code, or 1 for 0 if its hooks were silent. */
export function showClaudeEnd(io: Io, end: ClaudeEnd): void {
  const { code, after, sessionId, root } = end;
  const missingHooks = leftAtOnce(end) ? [] : missingHooksOf(end);
  io.exitCode = (code === 0 && missingHooks.length > 0 ? 1 : code) as Io['exitCode'];
  if (io.json) {
    const said = { type: 'end', session: sessionId, root, exit: code, missingHooks, state: after };
    io.stderr.write(`${JSON.stringify(said)}\n`);
    return;
  }
  note(io, moveInWords(end.before, after));
  for (const missing of missingHooks) note(io, `WARNING: ${missing}`);
  if (!after.closed)
    note(io, `continue: hopgate claude --session ${sessionId} --root ${shellWord(root)}${resuming(end)}`);
  note(io, `check what happened: hopgate verify ${sessionId} --root ${shellWord(root)}`);
}

/** Claude Code's own option (`--resume`) to continue its conversation. */
function resuming({ conversations }: ClaudeEnd): string {
  const main = conversations.find(({ conversation }) => conversation.agentId === null);
  return main === undefined ? '' : ` --resume ${main.conversation.id}`;
}

/** True if the user quit before the first conversation began: hooks then had nothing to report. */
const leftAtOnce = ({ isScript, conversations, env, begun }: ClaudeEnd): boolean =>
  !isScript &&
  conversations.length === 0 &&
  !wroteSince(join(env['CLAUDE_CONFIG_DIR'] || join(homeFolder(env), '.claude'), 'projects'), begun);

/** Events of this run that the hooks should have reported but did not. */
export function missingHooksOf({
  conversations,
  begun,
  callsWithoutHook,
}: Pick<ClaudeEnd, 'conversations' | 'begun' | 'callsWithoutHook'>): readonly string[] {
  const noticed = conversations.flatMap(noticedIn).flatMap(({ at, text }) => (at >= begun ? [text] : []));
  const main = conversations.filter(({ conversation }) => conversation.agentId === null);
  const past = callsWithoutHookWarning('Claude Code', callsWithoutHook);
  return main.length > 0
    ? [...noticed, ...(past === null ? [] : [past])]
    : [
        "none of hopgate's hooks was called: the agent's own tools were neither checked nor observed. Run hopgate doctor.",
      ];
}
