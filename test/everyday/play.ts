import { adviseOnSandboxError } from '../../src/adapters/core/sandbox-advice.ts';
import { openSession } from '../../src/open-session.ts';
import type { Session } from '../../src/session/session.ts';
import type { Json } from '../../src/spec/types.ts';
import { toolCacheFolderOf } from '../../src/tools/shell/changed-code.ts';
import { compareRuns, type Inside, type Run, type Verdict } from './compare.ts';
import type { CommandLine, Ecosystem } from './ecosystem.ts';
import type { Repository } from './repository.ts';

export interface Row {
  readonly place: 'explore' | 'edit' | 'test';
  readonly run: string;
  readonly verdict: Verdict;
}

const TOOLS = { explore: 'bash-readonly', edit: 'bash', test: 'bash-test' } as const;
/** Maximum number of steps of one session; test allows 100 in a visit. */
const STEPS = 80;

interface Choice {
  readonly env: NodeJS.ProcessEnv;
  readonly only: RegExp | null;
  readonly place: string | undefined;
  readonly onRow: (row: Row) => void;
}

/** Runs each command outside and, in the same repository, in a session. */
export async function play(
  one: Ecosystem,
  repository: Repository,
  { env, only, place: chosenPlace, onRow }: Choice,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const outside = new Map<string, Run>();
  const chosen = (place: Row['place'], lines: readonly CommandLine[]) =>
    chosenPlace === undefined || chosenPlace === place
      ? lines.filter(({ run }) => only === null || only.test(run))
      : [];
  for (const [place, lines] of [
    ['explore', one.commands],
    ['edit', one.commands],
    ['test', one.tests],
  ] as const) {
    const all = chosen(place, lines);
    for (let at = 0; at < all.length; at += STEPS) {
      repository.restore();
      const session = await sessionIn(place, repository.root, env);
      for (const line of all.slice(at, at + STEPS)) {
        const row = { place, run: line.run, verdict: await judge(place, line, repository, session, outside) };
        rows.push(row);
        onRow(row);
      }
      await session.close('all commands were run');
    }
  }
  return rows;
}

/** @param known the runs outside; explore and edit share them */
async function judge(
  place: Row['place'],
  line: CommandLine,
  repository: Repository,
  session: Session,
  known: Map<string, Run>,
): Promise<Verdict> {
  const command = repository.withOwnTemp(line.run);
  const key = `${place === 'test'} ${command}`;
  if (!known.has(key)) {
    repository.restore();
    known.set(key, repository.run(command, place === 'test' ? { CI: '1' } : {}));
  }
  repository.restore();
  const step = await session.step({ tool: TOOLS[place], args: { command } });
  const run = step.ok ? runOf(step.result, repository) : null;
  const inside: Inside = step.ok
    ? {
        run,
        advice: run && run.exit !== 0 ? adviseOnSandboxError(session, `${run.stderr}\n${run.stdout}`) : null,
        denial: null,
        fields: step.result as { readonly [key: string]: unknown },
        failure: step.outcome === 'failed' ? (step.error?.message ?? 'failed') : null,
      }
    : { run: null, denial: step.denial, fields: {}, failure: null, advice: null };
  // explore and test keep nothing by design; explore names what git would show: no empty folder, no socket and no cache.
  const native = known.get(key)!;
  const isShown = (path: string) =>
    !path.endsWith('/') &&
    native.tree.get(path) !== 'special' &&
    toolCacheFolderOf(path) === null &&
    !repository.ignores(path);
  const mayLose = (path: string) =>
    place === 'test' || (place === 'explore' && (path.startsWith('git: ') || !isShown(path)));
  return compareRuns(native, inside, line.compare, mayLose);
}

/** Null if the tool ended without running the command. */
function runOf(result: Json, repository: Repository): Run | null {
  if (result === null) return null;
  const { exit, stdout, stderr } = result as { exit: number; stdout: string; stderr: string };
  return { exit, stdout, stderr, tree: repository.tree() };
}

async function sessionIn(place: Row['place'], root: string, env: NodeJS.ProcessEnv): Promise<Session> {
  const session = await openSession({
    root,
    agent: 'everyday',
    store: 'memory',
    approver: () => true,
    trustConfig: true,
    env: () => env,
  });
  const must = async (result: Promise<{ ok: boolean; denial?: unknown }>) => {
    const { ok, denial } = await result;
    if (!ok) throw new Error(JSON.stringify(denial));
  };
  await must(session.setMode({ to: 'diagnose', reason: 'to look' }));
  await must(session.setMode({ to: 'execute', reason: 'to change' }));
  await must(session.start('explore'));
  if (place !== 'explore') await must(session.hop({ to: 'edit', exit: 'hop-edit', reason: 'to change files' }));
  if (place === 'test') await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'to test' }));
  return session;
}
