import type { Json } from '../spec/types.ts';
import { type Fields, fieldsOf, listOf } from './json.ts';

/** One run of a test command, read from what its step reports. */
export interface Run {
  readonly command: string;
  readonly narrowed: boolean;
  readonly verdict: 'pass' | 'fail' | 'error';
  /** The commands that have to pass besides. */
  readonly others: readonly string[];
  readonly total: number | null;
  readonly failures: readonly Json[];
  /** How often the code had been changed when it ran. */
  readonly change: number;
}

/** The runs of one step, which may have run several commands. */
export function runsOf(result: Fields, change: number): readonly Run[] {
  const { verdict, command, narrowed, runs } = result;
  if (Array.isArray(runs)) return runs.flatMap((each) => runsOf(fieldsOf(each), change));
  if (verdict !== 'pass' && verdict !== 'fail' && verdict !== 'error') return [];
  const { total, failures } = fieldsOf(result['report']);
  const run: Run = {
    command: listOf(command).join(' '),
    narrowed: narrowed === true,
    verdict,
    others: listOf(result['others']).map(String),
    total: typeof total === 'number' ? total : null,
    failures: listOf(failures),
    change,
  };
  return [run];
}

/** Every command that was run in full passed last time, and so did all that were to pass. */
export function allPassed(runs: readonly Run[]): boolean {
  const whole = lastOfEach(runs.filter(({ narrowed }) => !narrowed));
  const passes = (command: string) => whole.some((run) => run.command === command && run.verdict === 'pass');
  return whole.every(({ command }) => passes(command)) && runs.flatMap(({ others }) => others).every(passes);
}

/** The runs that can still matter: those of the code as it is, and those of the visit under way. */
export class TestRuns {
  #runs: Run[] = [];

  add(run: Run): void {
    this.#runs.push(run);
  }

  /** Older code than `change` is of no more interest; of each command, state and verdict the last run is enough for that. */
  forget(change: number): void {
    this.#runs = this.#runs.filter((run) => run.change >= change);
  }

  /** Both pass and fail on the same code. */
  wavers(command: string, change: number): boolean {
    const verdicts = this.#runs.filter((run) => run.command === command && run.change === change);
    return verdicts.some(({ verdict }) => verdict === 'pass') && verdicts.some(({ verdict }) => verdict === 'fail');
  }

  /** What can be said of the code as it stands. */
  standing(change: number): { readonly passed: boolean; readonly count: number; readonly failed: number } {
    const now = this.#runs.filter((run) => run.change === change);
    const whole = now.filter(({ narrowed }) => !narrowed);
    const passed = whole.length > 0 && allPassed(now) && whole.every(({ command }) => !this.wavers(command, change));
    return { passed, count: now.length, failed: now.filter(({ verdict }) => verdict === 'fail').length };
  }
}

/** The last run of each command. */
export function lastOfEach(runs: readonly Run[]): readonly Run[] {
  const last = new Map<string, Run>();
  for (const run of runs) last.set(run.command, run);
  return [...last.values()];
}
