import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { openRunJournal } from '../../src/agency/run-journal.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';

/** Locks a new database for 50 ms, as a process that creates it does. */
const CREATOR = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const db = new DatabaseSync(workerData);
db.exec('BEGIN IMMEDIATE');
parentPort.postMessage('locked');
setTimeout(() => db.exec('COMMIT'), 50);`;

it.each([
  ['an evidence store', (file: string) => sqliteStore(file)],
  ['a journal of runs', (file: string) => openRunJournal(file)],
])('%s waits for the process that creates its file', async (_, open) => {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-locked-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'a.db');
  const creator = new Worker(CREATOR, { eval: true, workerData: file });
  await once(creator, 'message');
  const opened = open(file);
  expect(opened).toBeDefined();
  await opened.close();
  await creator.terminate();
});
