import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import type { OpenOptions } from '../../src/open-options.ts';
import { openSession } from '../../src/open-session.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { Session } from '../../src/session/session.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { builtOnce } from '../built-once.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { gitScript } from '../git-script.ts';

const FILES: { readonly [path: string]: string } = {
  'src/sum.js': 'export const sum = (a, b) => a - b;\n',
  'src/other.js': 'export const other = 1;\n',
  'docs/sum.md': '# Sums\n',
  'README.md': '# A repository\n',
  '.env': 'TOKEN=planted-secret\n',
  '.gitignore': '.env\n',
  'check.sh': 'grep -q "a + b" src/sum.js\n',
  'hopgate.yaml':
    'test: [{ run: [sh, check.sh], report: none }]\ngit: { remote: origin, branch: main }\ndeploy: { staging: [sh, check.sh] }\n',
};

/**
 * The start of a scene. `outside`: a new session; `explore` in diagnose; `edit` and `test` in execute, through explore.
 */
export type Start = 'outside' | 'explore' | 'edit' | 'test';

/**
 * A small real git repository with a bug, a check that shows it and a bare remote; sessions over the real tools;
 * evidence in SQLite.
 */
export interface AgentWorld {
  readonly root: string;
  readonly store: EvidenceStore;
  /** Id of the session that `open` returned first. */
  readonly id: string;
  /** The session again, with a handle of its own, as another process has it. */
  open(options?: Partial<OpenOptions>): Promise<Session>;
  read(path: string): string;
  /** The content of `src/sum.js` in the remote. */
  pushed(): string;
  /** Reads the evidence to its end and checks that it is complete and clean. Closes nothing. */
  verify(): Promise<void>;
}

const MAKE_REPOSITORY = `
git init --quiet --bare --initial-branch=main ../remote.git
git init --quiet --initial-branch=main
git config user.name Worker
git config user.email worker@example.com
git remote add origin "$1/remote.git"
git add --all
git commit --quiet --message=first
git push --quiet --set-upstream origin main
`;

const copyRepository = builtOnce((folder) => {
  const root = join(folder, 'repo');
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  gitScript(root, 'Worker', MAKE_REPOSITORY, folder);
});

export async function agentWorld(start: Start, specs = fixtureSpecs): Promise<AgentWorld> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-agent-')));
  copyRepository(folder);
  const root = join(folder, 'repo');
  const store = sqliteStore(join(folder, 'evidence.db'));
  const sessions: Session[] = [];
  const open = async (options: Partial<OpenOptions> = {}): Promise<Session> => {
    const session = await openSession({
      specs,
      root,
      agent: 'worker',
      store,
      trustConfig: true,
      ...options,
    });
    sessions.push(session);
    return session;
  };
  onTestFinished(async () => {
    for (const session of sessions) await session.detach().catch(() => {});
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const first = await open({ approver: () => true });
  const { id, config } = first;
  await lead(first, start);
  await first.detach();
  return {
    root,
    store,
    id,
    open: (options) => open({ session: id, ...options }),
    read: (path) => readFileSync(join(root, path), 'utf8'),
    pushed: () =>
      execFileSync('git', ['--git-dir', join(folder, 'remote.git'), 'show', 'main:src/sum.js'], { encoding: 'utf8' }),
    async verify() {
      const verdict = await verifySession(id, { specs, config }, store.entries(id));
      expect(verdict, JSON.stringify(verdict.audit.violations)).toMatchObject({ ok: true, chain: [] });
      // A session that is resumed later has an open visit.
      expect(verdict.audit.gaps.filter(({ kind }) => kind !== 'open-visit')).toEqual([]);
    },
  };
}

async function lead(session: Session, to: Start): Promise<void> {
  const must = async (move: Promise<{ readonly ok: boolean }>) => expect(await move).toMatchObject({ ok: true });
  if (to === 'outside') return void (await must(session.settle()));
  await must(session.start('explore'));
  await must(session.setMode({ to: 'diagnose' }));
  if (to === 'explore') return;
  await must(session.setMode({ to: 'execute', reason: 'to work' }));
  await must(session.hop({ to: 'edit', exit: 'found-target', reason: 'found it' }));
  if (to === 'edit') return;
  await must(session.step({ tool: 'edit', args: { path: 'src/sum.js', old: 'a - b', new: 'a + b' } }));
  await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'done', fruit: { 'commit-message': 'Add' } }));
}
