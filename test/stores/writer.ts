// A process of its own that appends to sessions side by side and says each id once it is acknowledged:
//   node writer.ts <file> <holder> <appends per session> <session id>...
import { writeSync } from 'node:fs';
import { EMPTY_CHAIN } from '../../src/evidence/entry.ts';
import { StoreError } from '../../src/ports/evidence-store.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { conversation } from '../evidence/drafts.ts';

const [file, holder, appends, ...sessionIds] = process.argv.slice(2);
const store = sqliteStore(file!);

await Promise.all(
  sessionIds.map(async (sessionId) => {
    try {
      const lease = await store.acquire(sessionId, holder!, 60_000);
      let head = EMPTY_CHAIN;
      for (const draft of conversation(sessionId, Number(appends) - 1)) {
        const [stored] = await store.append(lease, head, [draft]);
        head = { seq: stored!.entry.seq, hash: stored!.entry.hash };
        writeSync(1, `${draft.id}\n`);
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      writeSync(1, `!${error.code} ${sessionId}\n`);
    }
  }),
);
await store.close();
