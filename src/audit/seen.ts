import type { EffectRecord, OutcomeRecord } from '../evidence/bodies.ts';
import { standingAfter } from '../evidence/discipline.ts';
import { FILE_CHANGES } from '../spec/policy/closed-lists.ts';
import type { Json, Observation } from '../spec/types.ts';
import { fieldsOf, listOf, textOf } from './json.ts';
import { allPassed, lastOfEach, type Run } from './test-runs.ts';
import type { witnessOf } from './witness.ts';

/** What a visit has shown so far. */
export interface Seen {
  readonly close: readonly string[];
  readonly matched: readonly string[];
  readonly listed: readonly string[];
  readonly changed: readonly string[];
  readonly runs: readonly Run[];
  readonly committed: boolean;
  readonly pushed: boolean;
  readonly sha: string | null;
  readonly deployed: boolean;
  readonly steps: number;
  readonly refusals: number;
  readonly patterns: readonly string[];
  readonly par: Json;
}

/** A visit that has just begun. */
export const NOTHING_SEEN: Seen = {
  close: [],
  matched: [],
  listed: [],
  changed: [],
  runs: [],
  committed: false,
  pushed: false,
  sha: null,
  deployed: false,
  steps: 0,
  refusals: 0,
  patterns: [],
  par: null,
};

/** A list with what it did not hold before; the same list if there is nothing. */
export const joined = (list: readonly string[], more: readonly (string | null)[]): readonly string[] => {
  const fresh = more.filter((item): item is string => item !== null && !list.includes(item));
  return fresh.length === 0 ? list : [...list, ...new Set(fresh)];
};

/** The files that effects say were changed. */
export const changedIn = (effects: readonly EffectRecord[]): readonly string[] =>
  effects.filter(({ op }) => FILE_CHANGES.includes(op)).map(({ path }) => path);

/** What a visit has shown after one more step. */
export function see(
  seen: Seen,
  tool: string,
  outcome: OutcomeRecord,
  effects: readonly EffectRecord[],
  runs: readonly Run[],
  witness: ReturnType<typeof witnessOf>,
): Seen {
  const changed = joined(seen.changed, changedIn(effects));
  const after = { ...seen, steps: seen.steps + 1, changed };
  if (outcome.status !== 'ok') return after;
  const result = fieldsOf(outcome.result);
  const ships = witness === 'deploy';
  const committed = ships && result['committed'] === true;
  const pushed = ships && result['pushed'] === true;
  return {
    ...after,
    close: tool === 'read' ? joined(seen.close, [textOf(result['path'])]) : seen.close,
    matched: joined(
      seen.matched,
      listOf(result['matches']).map((match) => textOf(fieldsOf(match)['path'])),
    ),
    listed: joined(seen.listed, listOf(result['files']).map(textOf)),
    runs: [...seen.runs, ...runs],
    committed: seen.committed || committed,
    pushed: seen.pushed || pushed,
    sha: (committed || pushed ? textOf(result['sha']) : null) ?? seen.sha,
    patterns: joined(seen.patterns, [standingAfter(tool, outcome)?.pattern ?? null]),
    deployed: seen.deployed || (ships && tool === 'bash-deploy' && result['exit'] === 0),
  };
}

/** Two runs of one command on the same code disagree. `runs`: those of the session. */
export const wavers = (runs: readonly Run[], command: string, change: number): boolean => {
  const verdicts = runs.filter((run) => run.command === command && run.change === change).map(({ verdict }) => verdict);
  return verdicts.includes('pass') && verdicts.includes('fail');
};

/** One observation of a visit. `runs`: those of the session. */
export function observed(runs: readonly Run[], seen: Seen, name: Observation): Json {
  const last = lastOfEach(seen.runs);
  switch (name) {
    case 'found': {
      const close = [...new Set([...seen.matched, ...seen.close])];
      return close.length > 0 ? close : [...seen.listed];
    }
    case 'changed-files':
      return [...seen.changed];
    case 'changes':
      return seen.changed.length;
    case 'result':
      if (last.some(({ command, change }) => wavers(runs, command, change))) return 'flaky';
      if (last.some(({ verdict }) => verdict === 'fail')) return 'fail';
      return last.some(({ verdict }) => verdict === 'pass') && allPassed(seen.runs) ? 'pass' : null;
    case 'test-count':
      return last.some(({ total }) => total === null)
        ? null
        : last.reduce<number>((sum, { total }) => sum + (total ?? 0), 0);
    case 'failures':
      return last.flatMap(({ failures }) => [...failures]);
    case 'committed':
      return seen.committed;
    case 'pushed':
      return seen.pushed;
    case 'sha':
      return seen.sha;
    case 'deployed':
      return seen.deployed;
    case 'steps':
      return seen.steps;
    case 'refusals':
      return seen.refusals;
    case 'patterns':
      return [...seen.patterns];
    case 'par':
      return seen.par;
    default:
      return name satisfies never;
  }
}
