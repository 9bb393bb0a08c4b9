import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedTranscriptItem } from '../../adapters/core/transcript/transcript-items.ts';
import { toShellWord } from '../../base/text.ts';
import { ConversationFiles, type StoredConversation } from '../../daemon/conversation-files.ts';
import type { SessionStatus } from '../../session/session-status.ts';
import { type Io, printRemark } from '../io.ts';
import { findCallsWithoutHook, readHookTranscript } from './calls-without-hook.ts';
import { describeSessionProgress } from './print-place.ts';

/** A client program's run in a session, as its hooks and its own transcript report it. */
interface ClientRun {
  readonly root: string;
  readonly sessionId: string;
  /** The start of the run, ISO 8601. */
  readonly begun: string;
  /** The conversations of the session that have an event since `begun`. */
  readonly conversations: readonly StoredConversation[];
  /** Calls that ran in this session without a hook, according to the client's own transcript. */
  readonly callsWithoutHook: readonly RecordedTranscriptItem[];
}

export interface ClientEnd extends ClientRun {
  readonly code: number;
  readonly before: SessionStatus;
  readonly after: SessionStatus;
  /** True if the client ran without a person at its screen: `claude -p`, `codex exec`. */
  readonly isScript: boolean;
}

export const summariseClientRun = ({ env }: Io, root: string, sessionId: string, begun: string): ClientRun => ({
  root,
  sessionId,
  begun,
  conversations: new ConversationFiles(root, env)
    .all()
    .filter((record) => record.sessionId === sessionId && record.events.some(({ at }) => at >= begun)),
  callsWithoutHook: findCallsWithoutHook(root, env, sessionId, readHookTranscript(root, env, sessionId)),
});

/** The id of the main agent's conversation; null if there is none. */
export const mainConversationIdOf = ({ conversations }: Pick<ClientRun, 'conversations'>): string | null =>
  conversations.find(({ conversation }) => conversation.agentId === null)?.conversation.id ?? null;

/**
 * True if the user quit before the first conversation began: hooks then had nothing to report.
 * @param transcripts the folder tree in which the client records its conversations
 */
export const didUserQuitAtOnce = ({ isScript, conversations, begun }: ClientEnd, transcripts: string): boolean =>
  !isScript && conversations.length === 0 && !wroteSince(transcripts, begun);

function wroteSince(folder: string, since: string): boolean {
  const from = Date.parse(since);
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some(
      (name) => name.endsWith('.jsonl') && statSync(join(folder, name)).mtimeMs >= from,
    );
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/**
 * Reports on stderr, at the end of the client program, what it did in the session and how to continue.
 * @param missingHooks warnings about events that the hooks should have reported
 * @param next the command that continues the client's conversation: its name and its arguments
 * @param more further lines
 */
export function showClientEnd(
  io: Io,
  { root, sessionId, code, before, after }: ClientEnd,
  missingHooks: readonly string[] | string | null,
  [name, ...args]: readonly string[],
  more: readonly string[] = [],
): void {
  if (io.json) {
    const end = { type: 'end', session: sessionId, root, exit: code, missingHooks, state: after };
    io.stderr.write(`${JSON.stringify(end)}\n`);
    return;
  }
  printRemark(io, describeSessionProgress(before, after));
  for (const missing of [missingHooks ?? []].flat()) printRemark(io, `WARNING: ${missing}`);
  const next = ['hopgate', name, '--session', sessionId, '--root', toShellWord(root), ...args].join(' ');
  if (!after.closed) printRemark(io, `continue: ${next}`);
  for (const line of more) printRemark(io, line);
  printRemark(io, `check what happened: hopgate verify ${sessionId} --root ${toShellWord(root)}`);
}
