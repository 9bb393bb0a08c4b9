import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import { createSession } from '../../src/session/open.ts';
import type { Session } from '../../src/session/session.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/load/load-project-config.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted.ts';

const specs = await loadSpecs('default');
const result = { path: 'src/gate/decide.ts', text: 'x'.repeat(200) };
let made = 0;

/** A session in explore, in DIAGNOSE, whose tools answer at once. */
export const exploring = (store: EvidenceStore): Promise<Session> => exploringAt(store, '/', `${made++}`);

/** The same in a repository. `name` makes its ids unique. */
export async function exploringAt(store: EvidenceStore, root: string, name: string): Promise<Session> {
  let next = 0;
  const session = await createSession(
    {
      store,
      clock: Date,
      ids: { next: (kind) => `${kind}-${name}-${next++}` },
      backends: [scriptedBackend({ read: result })],
      approver: null,
    },
    { specs, config: DEFAULT_PROJECT_CONFIG, agent: 'bench', root, unsafeNoSandbox: false, version: '0.0.0' },
  );
  await session.start('explore');
  await session.setMode({ to: 'diagnose' });
  return session;
}

/** Durable gated observing steps per second, while `sessions` sessions step side by side and each waits for its own answer. */
export async function gatedStepsPerSecond({
  steps = 1000,
  sessions = 1,
  open = (folder: string): EvidenceStore => sqliteStore(join(folder, 'store.db')),
} = {}): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-bench-'));
  const store = open(folder);
  try {
    const all: Session[] = [];
    for (let index = 0; index < sessions; index++) all.push(await exploring(store));
    const each = Math.ceil(steps / sessions);
    const start = performance.now();
    await Promise.all(
      all.map(async (session) => {
        for (let index = 0; index < each; index++) {
          const stepped = await session.step({ tool: 'read', args: { path: 'src/gate/decide.ts' } });
          if (!stepped.ok) throw new Error(stepped.denial.message);
        }
      }),
    );
    return (each * sessions) / ((performance.now() - start) / 1000);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}
