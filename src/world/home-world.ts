import { OBJECT_CLASSES, RECEPTACLE_CLASSES, RECEPTACLE_CONTENTS } from './alfred-classes.ts';
import { findTaskInWords } from './find-task.ts';
import { generateHouse } from './generate-house.ts';
import { TASK_TYPES } from './house.ts';
import { type HouseChoice, HouseholdEnvironment } from './household-environment.ts';

/** The household world in this process, for peripherals whose config names no server. */
export const householdWorld = {
  /** Opens the household that `seed`, `task`, `wording` and `asks` in the peripheral's config describe. */
  open(settings: { readonly [key: string]: unknown }): HouseholdEnvironment {
    const { seed, task: type, wording, asks } = settings;
    const task = TASK_TYPES.find((known) => known === type);
    const choice: HouseChoice = {
      ...(Number.isSafeInteger(seed) ? { seed: seed as number } : {}),
      ...(task ? { task } : {}),
      ...(wording === 'old' ? { wording } : {}),
      ...(asks === true ? { asks } : {}),
    };
    return new HouseholdEnvironment(choice);
  },

  /** The name of the house for a request in words; null if no house has such a task. */
  gameFor(words: string, seed: number): string | null {
    const found = findTaskInWords(words, {
      objects: OBJECT_CLASSES.filter((kind) => !RECEPTACLE_CLASSES.includes(kind)),
      // Things are in the basin of a sink or a bathtub, not in the sink or bathtub itself.
      receptacles: RECEPTACLE_CLASSES.filter((kind) => RECEPTACLE_CONTENTS[kind]),
    });
    if (!found) return null;
    const task = TASK_TYPES.find((type) => type === found.type);
    const about = Object.fromEntries(
      (['object', 'receptacle', 'lamp'] as const).flatMap((key) => (found[key] === null ? [] : [[key, found[key]]])),
    );
    try {
      return generateHouse({ seed, ...(task ? { task } : {}), about }).id;
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  },
};
