import { runJournalFile } from '../../agency/open-node.ts';
import { lstatIfAny } from '../../base/files.ts';
import { explainSystemError } from '../../base/system-error.ts';
import { findEvidenceIn, stateDir } from '../../project/state-dir.ts';
import { type Database, loadNodeSqlite } from '../../stores/sqlite/node-sqlite.ts';
import { openReadOnly } from '../../stores/sqlite/sqlite-schema.ts';
import type { Io } from '../io.ts';
import type { Diagnosis } from './diagnosis.ts';

/** Checks the evidence of this repository; empty if no session has been opened yet. */
export const diagnoseEvidence = (root: string, io: Io): readonly Diagnosis[] =>
  diagnoseDatabase(
    () => findEvidenceIn(stateDir(root, io.env)),
    (file) => openReadOnly(file, BUSY_MS),
    {
      name: 'evidence',
      status: 'broken',
      without: 'No session can start or be resumed here.',
      fix: 'Restore the file from a backup, or move it away to begin with empty evidence.',
    },
  );

/** Checks the journal of agency runs; empty if no run has begun yet. */
export const diagnoseRunJournal = ({ env }: Io): readonly Diagnosis[] =>
  diagnoseDatabase(() => (lstatIfAny(runJournalFile(env)) ? runJournalFile(env) : null), openPlainly, {
    name: 'agency runs',
    status: 'missing',
    without: 'The agency runs no agent; sessions work.',
    fix: 'Move the file away. Then a request with the key of an earlier run starts its agent again.',
  });

const BUSY_MS = 5000;

function openPlainly(file: string): { readonly db: Database; readonly close: () => void } {
  const db = new (loadNodeSqlite().DatabaseSync)(file, { readOnly: true, timeout: BUSY_MS });
  return { db, close: () => db.close() };
}

/** Runs SQLite's quick check on a file. */
function diagnoseDatabase(
  find: () => string | null,
  open: typeof openPlainly,
  { name, status, without, fix }: Omit<Required<Diagnosis>, 'found' | 'details'>,
): readonly Diagnosis[] {
  try {
    const file = find();
    if (file === null) return [];
    const { db, close } = open(file);
    const found = String(db.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
    close();
    if (found !== 'ok') throw new Error(found);
    return [{ name, status: 'ok', found: file }];
  } catch (error) {
    const system = explainSystemError(error);
    const found = system?.message ?? `damaged: ${(error as Error).message.replace(/^\*\*\*.*\n/, '')}`;
    return [{ name, status, found, without, fix: system?.remedy ?? fix }];
  }
}
