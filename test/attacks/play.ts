import fs from 'node:fs';
import { join } from 'node:path';
import { defaultBackends } from '../../src/default-backends.ts';
import { openSession } from '../../src/open-session.ts';
import type { EvidenceStore } from '../../src/ports/evidence-store.ts';
import type { ToolBackend } from '../../src/ports/tool-backend.ts';
import type { StepResult } from '../../src/session/call-results.ts';
import type { Session } from '../../src/session/session.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { webBackend } from '../../src/tools/web/web-backend.ts';
import { fixtureSpecs } from '../fixture-specs.ts';
import { formsOf, makeWorld, processesWith, treeHash, type World } from './attacked-machine.ts';
import type { Case, Peripheral } from './case.ts';
import { fakeWeb } from './fake-web.ts';

/** A case with another outcome than required. */
export interface Flaw {
  readonly case: string;
  readonly why: string;
}

/** The result of a play: the flaws of single cases, and those that only the check at the end finds. */
export interface Outcome {
  readonly played: number;
  readonly flaws: readonly Flaw[];
}

export const nameOf = (one: Case): string => `${one.class} ${one.kind} in ${one.peripheral}: ${one.name}`;

/**
 * Plays cases in a fresh world through a real session: the gate, the backends, the sandbox, a SQLite store. After each
 * case the tree outside and what lies out of scope have to be as before, and no secret may show; after all of them the
 * evidence is searched too, and nothing may live on.
 * @param broken serves its tools in place of the real backends: to see that a hole is noticed
 */
export async function play(cases: readonly Case[], broken?: ToolBackend): Promise<Outcome> {
  const world = await makeWorld();
  const flaws: Flaw[] = [];
  const store = sqliteStore(world.store);
  const web = await fakeWeb();
  try {
    for (const peripheral of ['explore', 'edit', 'test', 'deploy', 'reflect'] as const) {
      const mine = cases.filter((one) => one.peripheral === peripheral);
      if (mine.length === 0) continue;
      const session = await sessionIn(world, store, web, peripheral, broken);
      let last: Look | null = null;
      for (const one of mine) {
        const played = await playOne(world, session, web.fill, one, last);
        for (const why of played.flaws) flaws.push({ case: nameOf(one), why });
        last = one.after ? null : played.after;
      }
      await session.detach();
    }
    await store.close();
    flaws.push(...(await atTheEnd(world, web.reachedOutside())).map((why) => ({ case: 'afterwards', why })));
    return { played: cases.length, flaws };
  } finally {
    await store.close();
    web.close();
    world.close();
  }
}

/**
 * Each case calls a tool with files that no session has changed; what-ships.test.ts tests which files may ship.
 */
const withoutRelease = ({ tree: _, ...backend }: ToolBackend): ToolBackend => ({
  ...backend,
  run: ({ envelope: { shipping: __, ...envelope }, ...call }) => backend.run({ ...call, envelope }),
});

/** The context contains no commit message, so that each commit may have its own. */
const SPECS: SpecSet = structuredClone(fixtureSpecs);
Object.assign(SPECS.peripherals['deploy']!.context['commit-message']!, { optional: true });

/** A session in a peripheral, reached by allowed hops. */
async function sessionIn(
  world: World,
  store: EvidenceStore,
  web: Awaited<ReturnType<typeof fakeWeb>>,
  peripheral: Peripheral,
  broken?: ToolBackend,
): Promise<Session> {
  const backends = defaultBackends(store, { unsafeNoSandbox: false }).map((backend) =>
    backend.name === 'web' ? webBackend({ network: web.network }) : withoutRelease(backend),
  );
  const session = await openSession({
    specs: SPECS,
    root: world.root,
    agent: 'attacker',
    store,
    backends: broken ? [broken, ...backends] : backends,
    approver: () => true,
    trustConfig: true,
    config: { web: { allow: web.allow } },
  });
  const must = async (step: Promise<{ readonly ok: boolean }>) => {
    const result = await step;
    if (!result.ok) throw new Error(`cannot get to ${peripheral}: ${JSON.stringify(result)}`);
  };
  await must(session.start('explore'));
  await must(session.setMode({ to: 'diagnose' }));
  if (peripheral === 'explore') return session;
  await must(session.step({ tool: 'read', args: { path: 'src/a.txt' } }));
  if (peripheral === 'reflect') {
    await must(session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'to look back' }));
    return session;
  }
  await must(session.hop({ to: 'edit', exit: 'found-target', reason: 'to edit' }));
  await must(session.setMode({ to: 'execute', reason: 'to work', exitCriteria: 'done' }));
  if (peripheral === 'edit') return session;
  await must(session.hop({ to: 'test', exit: 'hop-test', reason: 'to test' }));
  if (peripheral === 'test') return session;
  await must(session.step({ tool: 'bash-test', args: {} }));
  await must(session.hop({ to: 'deploy', exit: 'pass', reason: 'to ship' }));
  return session;
}

const inScope = (path: string): boolean => /^(?:src|docs|scripts|\.git)(?:\/|$)/.test(path);

/** The state that no case may change. */
const look = (world: World, peripheral: Peripheral) => ({
  outside: treeHash(world.outside),
  // an observing tool may change nothing; an acting tool only the scope and, in deploy, git's own folder
  root: treeHash(world.root, peripheral === 'edit' || peripheral === 'deploy' ? inScope : undefined),
  git: peripheral === 'deploy' ? gitFiles(world) : treeHash(join(world.root, '.git')),
  reached: world.reached(),
});
type Look = ReturnType<typeof look>;

/** @param last the state after the previous case, or null if it has changed since */
async function playOne(
  world: World,
  session: Session,
  fillWeb: World['fill'],
  one: Case,
  last: Look | null,
): Promise<{ readonly flaws: readonly string[]; readonly after: Look }> {
  one.before?.(world);
  const before = one.before || !last ? look(world, one.peripheral) : last;
  const result = await session.step({ tool: one.tool, args: fillWeb(world.fill(one.args)) as never });
  const after = look(world, one.peripheral);
  const text = JSON.stringify({ ...result, evidence: [] });
  const flaws = (Object.keys(before) as (keyof typeof before)[])
    .filter((what) => before[what] !== after[what])
    .map((what) => (what === 'reached' ? 'a service of the host was reached' : `${what} changed`));
  const asExpected = judge(one, result);
  if (asExpected !== null) flaws.push(`${asExpected}: ${text.slice(0, 1500)}`);
  for (const wanted of one.shows ?? [])
    if (!text.includes(wanted) && !text.includes(JSON.stringify(wanted).slice(1, -1)))
      flaws.push(`it does not show ${wanted}: ${text.slice(0, 1500)}`);
  for (const unwanted of one.hides ?? [])
    if (text.includes(unwanted)) flaws.push(`it shows ${unwanted}: ${text.slice(0, 800)}`);
  for (const secret of world.secrets)
    if (formsOf(secret).some((form) => text.includes(form))) flaws.push(`a secret shows: ${text.slice(0, 800)}`);
  for (const [path, content] of Object.entries(one.files ?? {})) {
    const now = fs.existsSync(join(world.root, path)) ? fs.readFileSync(join(world.root, path), 'utf8') : null;
    if (now !== content) flaws.push(`${path} is ${JSON.stringify(now)}: ${text.slice(0, 800)}`);
  }
  const found = findingsOf(result);
  for (const path of one.findings ?? [])
    if (!found.includes(path)) flaws.push(`no finding names ${path}: ${text.slice(0, 800)}`);
  one.after?.(world);
  return { flaws, after };
}

/** The files that decide which programs git runs: neither a commit nor a push may change them. */
const gitFiles = (world: World): string =>
  treeHash(
    join(world.root, '.git'),
    (path) => !/^(?:config|hooks|info|modules)(?:\/|$)/.test(path) || path === 'info/refs',
  );

const findingsOf = (result: StepResult): readonly string[] =>
  result.ok && result.outcome === 'ok' && result.result !== null && typeof result.result === 'object'
    ? ((result.result as { findings?: { path: string }[] }).findings ?? []).map(({ path }) => path)
    : [];

function judge({ expect }: Case, result: StepResult): string | null {
  const exit =
    result.ok && result.result !== null && typeof result.result === 'object' && 'exit' in result.result
      ? result.result['exit']
      : 0;
  const worked = result.ok && result.outcome === 'ok' && exit === 0;
  switch (expect) {
    case 'contained':
      return null;
    case 'works':
      return worked ? null : 'it does not work';
    case 'no-success':
      return worked ? 'it succeeded' : null;
    case 'refused':
      return result.ok ? 'it was not refused' : null;
    default:
      if (result.ok) return `it was not refused as ${expect}`;
      return result.denial.code === expect ? null : `it was refused as ${result.denial.code}, not ${expect}`;
  }
}

async function atTheEnd(world: World, reachedOutside: number): Promise<readonly string[]> {
  const flaws: string[] = [];
  const evidence = Buffer.concat(
    fs
      .readdirSync(world.folder)
      .filter((name) => name.startsWith('evidence.db'))
      .map((name) => fs.readFileSync(join(world.folder, name))),
  ).toString('latin1');
  if (!evidence.includes('session-open')) flaws.push('the evidence could not be searched');
  for (const secret of world.secrets)
    if (formsOf(secret).some((form) => evidence.includes(form))) flaws.push('a secret is in the evidence');
  // A killed process disappears a moment after the signal.
  for (let attempt = 0; attempt < 100 && processesWith(world.mark).length > 0; attempt++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  flaws.push(...processesWith(world.mark).map((line) => `a process is left: ${line}`));
  if (world.reached() > 0) flaws.push('a service of the host was reached');
  if (reachedOutside > 0) flaws.push('an address that is not listed was connected to');
  const left = leftovers(world.root);
  if (left.length > 0) flaws.push(`files of ours are left: ${left.join(', ')}`);
  return flaws;
}

const leftovers = (root: string, path = ''): string[] =>
  fs.readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => {
    const inner = join(path, entry.name);
    return [
      ...(entry.name.includes('.hopgate-') ? [inner] : []),
      ...(entry.isDirectory() ? leftovers(root, inner) : []),
    ];
  });
