import type { Json } from '../spec/types.ts';
import { type Fields, fieldsOf, listOf } from './json.ts';

/** One run of a test command, read from what its step reports. */
export interface Run {
  readonly command: string;
  readonly narrowed: boolean;
  readonly verdict: 'pass' | 'fail' | 'none';
  readonly total: number | null;
  readonly failures: readonly Json[];
  /** How often the code had been changed when it ran. */
  readonly change: number;
}

export function runOf(result: Fields, change: number): Run | null {
  const { verdict, command, narrowed } = result;
  if (verdict !== 'pass' && verdict !== 'fail' && verdict !== 'none') return null;
  const { total, failures } = fieldsOf(result['report']);
  return {
    command: listOf(command).join(' '),
    narrowed: narrowed === true,
    verdict,
    total: typeof total === 'number' ? total : null,
    failures: listOf(failures),
    change,
  };
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
    const whole = lastOfEach(now.filter(({ narrowed }) => !narrowed));
    const passed =
      whole.some(({ verdict }) => verdict === 'pass') &&
      whole.every(({ verdict, command }) => verdict !== 'fail' && !this.wavers(command, change));
    return { passed, count: now.length, failed: now.filter(({ verdict }) => verdict === 'fail').length };
  }
}

/** The last run of each command. */
export function lastOfEach(runs: readonly Run[]): readonly Run[] {
  const last = new Map<string, Run>();
  for (const run of runs) last.set(run.command, run);
  return [...last.values()];
}
