import type { SeatRecord } from '../../daemon/seat-files.ts';
import type { SessionStatus } from '../../session/session.ts';
import { type Io, note } from '../io.ts';
import { quoted } from '../visible.ts';

export interface End {
  readonly root: string;
  readonly sessionId: string;
  /** Codex's own exit code. */
  readonly code: number;
  readonly before: SessionStatus;
  readonly after: SessionStatus;
  /** What Codex was started with last, and what the session's peripheral now grants. */
  readonly sandbox: string;
  readonly wanted: string;
  /** When Codex was started (ISO 8601). */
  readonly begun: string;
  /** The conversations of this run. */
  readonly seats: readonly SeatRecord[];
}

/** Says on stderr what became of the session; stdout is Codex's. Exit code 1 where Codex failed, or its hooks were silent. */
export function showEnd(io: Io, end: End): void {
  const { code, after } = end;
  const silence = silenceOf(end.seats, end.begun);
  io.exitCode = code === 0 && silence === null ? 0 : 1;
  if (io.json) {
    const { sessionId, root } = end;
    io.stderr.write(
      `${JSON.stringify({ type: 'end', session: sessionId, root, exit: code, silence, state: after })}\n`,
    );
    return;
  }
  note(io, `${stepsOf(end)}; the session is ${whereIs(after)}`);
  if (silence !== null) note(io, `WARNING: ${silence}`);
  for (const line of openEnds(end)) note(io, line);
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

const stepsOf = ({ before, after }: End): string =>
  `${count(after.steps - before.steps, 'step')}, ${count(after.denials - before.denials, 'refusal')}`;

const whereIs = ({ closed, peripheral, mode }: SessionStatus): string =>
  closed ? 'closed' : `in ${peripheral ?? 'no peripheral'}${mode ? `, mode ${mode}` : ''}`;

/** Codex passes over hooks that it does not trust, or that a policy switches off, without a word. null: they came. */
export function silenceOf(seats: readonly SeatRecord[], since: string): string | null {
  const main = seats.filter(({ conversation }) => conversation.agentId === null);
  if (main.some(({ notes }) => typeof notes['begun'] === 'string' && notes['begun'] >= since)) return null;
  return main.length === 0
    ? "none of hopgate's hooks was called: what Codex did by itself was seen by nobody (its sandbox held it), only what went through hopgate's tools. Run hopgate doctor."
    : 'Codex called no hook at its start: hooks fell silent for a while. Run hopgate doctor.';
}

function openEnds({ root, sessionId, after, sandbox, wanted }: End): readonly string[] {
  const on = `hopgate codex --session ${sessionId}`;
  const lines = [];
  if (!after.closed) lines.push(`go on with it: ${on} --root ${quoted(root)} [exec …]`);
  if (!after.closed && sandbox !== wanted)
    lines.push(
      `Codex's own sandbox was ${sandbox}; where the session is now it would be ${wanted}, from the next start on (--follow resumes by itself)`,
    );
  lines.push(`what happened: hopgate thread ${sessionId}, hopgate verify ${sessionId}`);
  return lines;
}
