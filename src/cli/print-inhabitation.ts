import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { transcriptPath } from '../adapters/core/transcript/transcript-file.ts';
import type { DemandResult } from '../audit/inhabitation/inhabitation-demands.ts';
import { judgeInhabitation } from '../audit/inhabitation/judge-inhabitation.ts';
import { excerpt } from '../base/text.ts';
import { EMPTY_TRANSCRIPT, parseTranscript, type Transcript } from '../evidence/transcript.ts';
import type { EvidenceStore, SessionSummary } from '../ports/evidence-store.ts';
import { stateDir } from '../project/state-dir.ts';
import { readPinOrReason } from './choose-sessions.ts';
import { findCallsWithoutHook } from './client/calls-without-hook.ts';
import { CliError, type Io, usageError } from './io.ts';
import { printTable } from './table.ts';

/**
 * Judges demands P-1 to P-6 of a session by a transcript: the named file, else the recorded transcript, else an empty
 * one.
 * @throws CliError `unreadable` if the named transcript cannot be read; `no-pin` if the pinned specs of the session are
 *   missing or changed.
 */
export async function judgeSessionInhabitation(
  io: Io,
  store: EvidenceStore,
  session: SessionSummary,
  root: string,
  file: string | undefined,
): Promise<readonly DemandResult[]> {
  const pin = await readPinOrReason(store, session);
  if (typeof pin === 'string')
    throw new CliError('no-pin', pin, 'Judge a session with an intact pin: P-1 to P-6 depend on the pinned specs.');
  const entries = await Array.fromAsync(store.entries(session.sessionId), ({ entry }) => entry);
  const recorded = readTranscript(io, session.sessionId, root, file);
  const transcript = file === undefined ? withCallsWithoutHook(io, session.sessionId, root, recorded) : recorded;
  return judgeInhabitation(transcript, pin.specs, entries);
}

/** Appends the calls that the client's own transcript reports and no hook reported. */
function withCallsWithoutHook(io: Io, sessionId: string, root: string, recorded: Transcript): Transcript {
  const last = recorded.items.at(-1);
  if (last === undefined) return recorded;
  const more = findCallsWithoutHook(root, io.env, sessionId, recorded).map((item, index) => ({
    ...item,
    n: last.n + 1 + index,
    at: last.at,
  }));
  return { ...recorded, items: [...recorded.items, ...more] };
}

function readTranscript(io: Io, sessionId: string, root: string, file: string | undefined): Transcript {
  const path = file === undefined ? transcriptPath(stateDir(root, io.env), sessionId) : resolve(io.cwd, file);
  try {
    return parseTranscript(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (file === undefined && (cause as NodeJS.ErrnoException).code === 'ENOENT') return EMPTY_TRANSCRIPT;
    throw usageError(`cannot read the transcript ${path}`, 'Name an existing file.', 'unreadable', cause);
  }
}

const STYLE = { holds: 'green', fails: 'red', 'not-applicable': 'dim' } as const;
/** Maximum number of findings to print for one demand; `--json` has more. */
const MAX_FINDINGS = 3;
const WIDTH = 120;

export function printInhabitation(io: Io, judged: readonly DemandResult[]): void {
  const rows = judged.flatMap(({ id, title, verdict, score, findings }) => {
    const word = `${verdict.replace('-', ' ')}${score === undefined ? '' : ` (${score})`}`;
    const first = [id, title, [STYLE[verdict], word] as const];
    if (findings.length === 0) return [[...first, '', '']];
    const rows = findings
      .slice(0, MAX_FINDINGS)
      .map(({ item, seq, reason }, index) => [
        ...(index === 0 ? first : ['', '', '']),
        item === null ? (seq === null ? '' : `seq ${seq}`) : `item ${item}`,
        excerpt(reason, WIDTH),
      ]);
    const more = findings.length - MAX_FINDINGS;
    return more > 0 ? [...rows, ['', '', '', '', `and ${more} more`]] : rows;
  });
  printTable(io, ['', 'demand', 'verdict', 'where', 'why'], rows);
}
