import { plural } from '../../base/text.ts';
import type { SessionStatus } from '../../session/session-status.ts';
import { type Io, printRemark } from '../io.ts';

/** Prints the session's state before the client program takes over the screen. */
export const printSessionStart = (io: Io, sessionId: string, root: string, { mode, peripheral }: SessionStatus): void =>
  printRemark(io, `session ${sessionId} in ${root}: ${mode ?? 'no mode gate'}, ${peripheral ?? 'in no peripheral'}`);

/** Summarises the steps and denials between two states of a session, and says where the session is now. */
export const describeSessionProgress = (before: SessionStatus, after: SessionStatus): string =>
  `${plural(after.steps - before.steps, 'step')}, ${plural(after.denials - before.denials, 'refusal')}; the session is ${whereIs(after)}`;

const whereIs = ({ closed, peripheral, mode }: SessionStatus): string =>
  closed ? 'closed' : `in ${peripheral ?? 'no peripheral'}${mode ? `, mode ${mode}` : ''}`;
