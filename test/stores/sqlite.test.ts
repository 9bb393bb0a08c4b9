import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { describeEvidenceStore } from '../contracts/evidence-store.ts';

describeEvidenceStore('sqlite', async (clock) => {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-store-'));
  const file = join(folder, 'evidence.db');
  let store = sqliteStore(file, { clock });
  const reopen = async () => {
    await store.close();
    store = sqliteStore(file, { clock });
    return store;
  };
  return { store, reopen, cleanup: async () => rmSync(folder, { recursive: true }) };
});
