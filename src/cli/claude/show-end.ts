import type { SeatRecord } from '../../daemon/seat-files.ts';
import type { SessionStatus } from '../../session/session.ts';
import { type Io, note } from '../io.ts';
import { quoted } from '../visible.ts';
import { noticedIn } from './silences.ts';

export interface End {
  readonly root: string;
  readonly sessionId: string;
  /** Claude Code's own exit code. */
  readonly code: number;
  readonly before: SessionStatus;
  readonly after: SessionStatus;
  /** The conversations of this run. */
  readonly seats: readonly SeatRecord[];
  /** When the run began. */
  readonly begun: string;
  /** Tools that Claude Code says it ran in this session without a hook. */
  readonly unhooked: readonly string[];
}

/** Says on stderr what became of the session; stdout is the client's, and its exit code is passed on (1 where its hooks were silent). */
export function showEnd(io: Io, end: End): void {
  const { code, after, sessionId, root } = end;
  const silences = silencesOf(end);
  io.exitCode = (code === 0 && silences.length > 0 ? 1 : code) as Io['exitCode'];
  if (io.json) {
    const said = { type: 'end', session: sessionId, root, exit: code, silences, state: after };
    io.stderr.write(`${JSON.stringify(said)}\n`);
    return;
  }
  note(io, `${stepsOf(end)}; the session is ${whereIs(after)}`);
  for (const silence of silences) note(io, `WARNING: ${silence}`);
  if (!after.closed)
    note(io, `go on with it: hopgate claude --root ${quoted(root)} --session ${sessionId} [--continue]`);
  note(io, `check what happened: hopgate verify ${sessionId} --root ${quoted(root)}`);
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

const stepsOf = ({ before, after }: End): string =>
  `${count(after.steps - before.steps, 'step')}, ${count(after.denials - before.denials, 'refusal')}`;

const whereIs = ({ closed, peripheral, mode }: SessionStatus): string =>
  closed ? 'closed' : `in ${peripheral ?? 'no peripheral'}${mode ? `, mode ${mode}` : ''}`;

/** What hooks ought to have told in this run and did not. */
export function silencesOf({ seats, begun, unhooked }: Pick<End, 'seats' | 'begun' | 'unhooked'>): readonly string[] {
  const noticed = seats.flatMap(noticedIn).flatMap(({ at, text }) => (at >= begun ? [text] : []));
  const main = seats.filter(({ conversation }) => conversation.agentId === null);
  const past =
    unhooked.length === 0
      ? []
      : [
          `Claude Code ran ${count(unhooked.length, 'call')} that no hook told of (${[...new Set(unhooked)].join(', ')}): nobody decided or watched what they did.`,
        ];
  return main.length > 0
    ? [...noticed, ...past]
    : [
        "none of hopgate's hooks was called: what the agent did by itself was decided and seen by nobody. Run hopgate doctor.",
      ];
}
