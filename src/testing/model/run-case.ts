import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditedPin } from '../../audit/rules/audit-state.ts';
import { findFirstRuleProblem } from '../../audit/rules/find-rule-problems.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { IdGenerator } from '../../ports/ids.ts';
import type { ToolBackend } from '../../ports/tool-backend.ts';
import type { Session } from '../../session/session.ts';
import { memoryStore } from '../../stores/memory.ts';
import { sqliteStore } from '../../stores/sqlite.ts';
import { countingIds } from '../doubles/counting-ids.ts';
import { envelopeKey } from '../plan/envelope-key.ts';
import type { Move } from '../plan/move.ts';
import { requestsLikelyRefused, type Thoroughness } from '../plan/negative-cases.ts';
import { itemsCoveredByMove, type PlannedCase, peripheralNameOf } from '../plan/planned-case.ts';
import { doRulesReadDenials } from './cel-rules-text.ts';
import { SettableTestClock } from './model-clock.ts';
import { type JudgedMove, ModelRun, ModelRunFailure } from './model-run.ts';

/** A memory store with the clock and the ids of its sessions. */
interface CaseStore {
  readonly store: EvidenceStore;
  readonly clock: SettableTestClock;
  readonly ids: IdGenerator;
}

export interface RunCaseOptions {
  readonly agent: string;
  readonly backends?: readonly ToolBackend[];
  readonly onMove?: (taken: JudgedMove) => void;
  /** By envelope: the peripherals whose negative cases were tried. All cases of one run share it. */
  readonly provoked: Map<string, Set<string>>;
  /** The stores that no case uses at present. All cases of one run share them: a new store has no pinned specs yet. */
  readonly idleStores: CaseStore[];
}

const ROOT = '/repository';

/** Executes a case on a session over the memory store. Throws {@link ModelRunFailure} if session and spec disagree. */
export async function runPlannedCase(pinned: AuditedPin, planned: PlannedCase, options: RunCaseOptions): Promise<void> {
  const later: (() => Promise<void>)[] = [];
  await withRun(pinned, options, async (run) => {
    // If rules count refusals, a refusal on the way would change the answers to the moves after it.
    const isApart = planned.provoke === 'all' && doRulesReadDenials(pinned.specs);
    for (const [made, move] of planned.moves.entries()) {
      const how = planned.provoke === 'all' ? howToProvoke(run, options.provoked) : null;
      if (how !== null && isApart) later.push(() => provokeApart(made, how));
      else if (how !== null) await tryNegativeCases(pinned, run, how);
      await makePlanned(run, move, planned, options);
    }
    const how = planned.provoke === 'all' ? howToProvoke(run, options.provoked) : (planned.provoke ?? null);
    if (how !== null) await tryNegativeCases(pinned, run, how === 'end' ? 'whole' : how);
    for (const move of planned.tries ?? []) await run.make(move);
    for (const move of planned.forges ?? []) {
      run.forgeApproval(move);
      await run.make({ ...move, name: `${move.name} by an expired approval`, approvalMinutes: 0 });
    }
    if (planned.both) await run.makeBoth(...planned.both);
  });
  for (const provoke of later) await provoke();

  /** Makes the first moves in a session of their own, and tries the negative cases there. */
  function provokeApart(count: number, how: Thoroughness): Promise<void> {
    return withRun(pinned, options, async (run) => {
      for (const move of planned.moves.slice(0, count)) await makePlanned(run, move, planned, options);
      await tryNegativeCases(pinned, run, how);
    });
  }
}

/** Executes a case on SQLite with a process that crashes in every call, before or after the append is durable. */
export async function runCaseWithCrashes(
  pinned: AuditedPin,
  planned: PlannedCase,
  options: RunCaseOptions,
  turn: number,
): Promise<void> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'hopgate-trial-'));
  const clock = new SettableTestClock();
  const store = sqliteStore(join(folder, 'evidence.db'), { clock });
  try {
    const run = await new ModelRun({ ...options, pinned, store, clock, root: ROOT }).open();
    for (const [index, move] of planned.moves.entries())
      await run.makeAndCrash(move, (index + turn) % 2 === 0 ? 'before' : 'after');
    await run.finish();
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes the moves, then lets the agent under test act; its actions are verified against the spec. */
export function runCaseWithAgent(
  pinned: AuditedPin,
  planned: PlannedCase,
  play: (session: Session) => Promise<void>,
  options: RunCaseOptions,
): Promise<void> {
  return withRun(pinned, options, async (run) => {
    for (const move of planned.moves) await makePlanned(run, move, planned, options);
    await run.withSession('the agent plays', play);
  });
}

/** Calls `work` with a new session over a memory store, and finishes the run. The store of a failed run is closed. */
async function withRun(
  pinned: AuditedPin,
  options: RunCaseOptions,
  work: (run: ModelRun) => Promise<void>,
): Promise<void> {
  const { idleStores } = options;
  const used = idleStores.pop() ?? newCaseStore();
  try {
    const run = await new ModelRun({ ...options, ...used, pinned, root: ROOT }).open();
    await work(run);
    await run.finish();
    idleStores.push(used);
  } catch (error) {
    await used.store.close();
    throw error;
  }
}

function newCaseStore(): CaseStore {
  const clock = new SettableTestClock();
  return { store: memoryStore({ clock }), clock, ids: countingIds() };
}

async function makePlanned(
  run: ModelRun,
  move: Move,
  { group }: PlannedCase,
  { backends }: RunCaseOptions,
): Promise<void> {
  const { refusal } = await run.make(move);
  if ((refusal !== null) === (move.refused ?? false) || group === 'visits') return;
  const [item] = itemsCoveredByMove(run.state, move);
  const remedy =
    backends && refusal && item !== undefined
      ? `\n  If your backends cannot bring this about, exclude it: exclude: { '${item}': 'the reason' }`
      : '';
  throw new ModelRunFailure(
    `${run.trace}\n  ${move.name} was planned as ${move.refused ? 'refused' : 'allowed'}, but: ${refusal ? `${refusal.code} (${refusal.constraint})` : 'allowed'}${remedy}`,
  );
}

/** The negative cases to try in the present peripheral of a run; null if they were tried before. */
function howToProvoke(run: ModelRun, provoked: RunCaseOptions['provoked']): Thoroughness | null {
  const { mode, visit } = run.state;
  const envelope = `${mode} ${visit?.spec ? envelopeKey(visit.spec) : ''}`;
  const peripherals = getOrInsert(provoked, envelope, () => new Set());
  const peripheral = peripheralNameOf(run.state);
  if (peripherals.has(peripheral)) return null;
  peripherals.add(peripheral);
  return peripherals.size === 1 && provoked.size <= SAMPLED ? 'sample' : 'edges';
}

/**
 * Maximum number of peripherals with different envelopes, of a large spec set, in which general rules are tried, too.
 */
const SAMPLED = 12;

/** Tries the negative cases of this state. Of those that turn out to be allowed, only steps are made. */
async function tryNegativeCases(pinned: AuditedPin, run: ModelRun, how: Thoroughness): Promise<void> {
  for (const move of requestsLikelyRefused(pinned, run.state, how)) {
    const { state } = run;
    const refused = findFirstRuleProblem(state, move.asked) !== null;
    if (refused || (how === 'whole' && move.asked.kind === 'step')) await run.make(move);
  }
}
