import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { ToolBackend } from '../../src/ports/tool-backend.ts';
import { createSession } from '../../src/session/create-session.ts';
import type { Session } from '../../src/session/session.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { makeTimeOrderedId } from '../../src/stores/time-ordered-id.ts';
import { type Pace, paceOf } from './pace.ts';

const specs = await loadSpecs('default');
/** Answers at once, so that nothing but the step is measured. */
const reader: ToolBackend = {
  name: 'bench',
  tools: ['read'],
  run: async ({ args }) => ({
    outcome: { status: 'ok', result: { path: args['path'] ?? null, text: 'x'.repeat(200) } },
    effects: [],
  }),
};

/** A session in explore, in DIAGNOSE, whose tools answer at once. Its ids are those of a real session. */
export async function exploringAt(store: EvidenceStore, root: string): Promise<Session> {
  const session = await createSession(
    {
      store,
      clock: Date,
      ids: { next: (kind) => `${kind[0]}-${makeTimeOrderedId()}` },
      backends: [reader],
      approver: null,
    },
    { specs, config: DEFAULT_PROJECT_CONFIG, agent: 'bench', root, unsafeNoSandbox: false, version: '0.0.0' },
  );
  await session.start('explore');
  await session.setMode({ to: 'diagnose' });
  return session;
}

/** Durable gated observing steps of `sessions` sessions side by side, each waiting for its own answer. */
export async function stepsInto(store: EvidenceStore, steps: number, sessions: number): Promise<Pace> {
  const all: Session[] = [];
  for (let index = 0; index < sessions; index++) all.push(await exploringAt(store, '/'));
  const each = Math.ceil(steps / sessions);
  return paceOf(each * sessions, () =>
    Promise.all(
      all.map(async (session) => {
        for (let index = 0; index < each; index++) {
          const stepped = await session.step({ tool: 'read', args: { path: 'src/gate/decide.ts' } });
          if (!stepped.ok) throw new Error(stepped.denial.message);
        }
      }),
    ),
  );
}
