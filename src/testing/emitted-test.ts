import { getOrInsert } from '../base/get-or-insert.ts';
import { type CaseRunSetup, prepareTestCaseRuns } from './generate-tests.ts';
import { runPlannedCase } from './model/run-case.ts';
import type { Move } from './plan/move.ts';
import type { PlannedCase } from './plan/planned-case.ts';

export type EmittedMoves = { readonly [name: string]: Omit<Move, 'name'> };

/** A path of a generated test: the names of its moves, and the requests at its end. */
export interface EmittedPath {
  readonly path: readonly string[];
  readonly tries?: readonly string[];
  readonly forges?: readonly string[];
  readonly both?: readonly [string, string];
  readonly provoke?: 'end' | 'all';
}

const settings = new Map<string, Promise<CaseRunSetup>>();

/**
 * Returns the function that runs the tests in a file of `hopgate test --emit`. Each test makes the moves of its path in
 * a session of the current specs, and compares every answer with the spec.
 * @param specs `default` or the path of the spec set
 */
export function emittedTest(
  specs: string,
  group: PlannedCase['group'],
  moves: EmittedMoves,
): (test: EmittedPath) => () => Promise<void> {
  const named = (name: string): Move => {
    const move = Object.hasOwn(moves, name) ? moves[name] : undefined;
    if (!move) throw new Error(`there is no move "${name}" in the file`);
    return { ...move, name };
  };
  return ({ path, tries, forges, both, provoke }) =>
    async () => {
      const { pinned, run } = await getOrInsert(settings, specs, () => prepareTestCaseRuns(specs));
      const planned: PlannedCase = {
        group,
        name: '',
        moves: path.map(named),
        tries: tries?.map(named),
        forges: forges?.map(named),
        both: both && [named(both[0]), named(both[1])],
        provoke,
      };
      await runPlannedCase(pinned, planned, run).catch((error: Error) => {
        error.message += `\n  If the specs are right, write the tests again: hopgate test ${specs} --emit`;
        throw error;
      });
    };
}
