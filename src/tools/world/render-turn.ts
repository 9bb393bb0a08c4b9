import { labelTextWithSource } from '../../base/attribute-text.ts';
import type { WorldTurn } from '../../ports/world-environment.ts';

/** When the agent sees the list of admissible commands. By published results, agents may do worse with the list. */
export const COMMAND_LIST_KINDS = ['always', 'on-refusal', 'never'] as const;
export type CommandListKind = (typeof COMMAND_LIST_KINDS)[number];

/** The answer to a command that a world does not accept. */
const REFUSED = 'Nothing happens.';

/** True if the world refused the last command; worlds have no field for it. */
export const wasCommandRefused = ({ observation }: Pick<WorldTurn, 'observation'>): boolean =>
  observation.trim() === REFUSED;

interface TurnParts {
  readonly turn: WorldTurn;
  readonly carried: string | null;
  readonly list: CommandListKind;
  /** The first observation of a game that this call started, if it differs from the observation in `turn`. */
  readonly opening?: string;
  /** Remarks about the world, such as that it was restarted. */
  readonly notices?: readonly string[];
}

/** A turn as the agent reads it: each part after the name of its source. */
export function renderWorldTurn({ turn, carried, list, opening, notices = [] }: TurnParts): string {
  const { observation, admissible, done, won, score, maxScore, steps, task } = turn;
  const first = steps === 0 || opening !== undefined;
  const shown =
    admissible !== null && !done && (list === 'always' || (list === 'on-refusal' && wasCommandRefused(turn)));
  return [
    ...notices.map((notice) => labelTextWithSource('hopgate', notice)),
    ...(first && task !== '' ? [labelTextWithSource('ALFWorld', `Task: ${task}`)] : []),
    ...(opening === undefined ? [] : [labelTextWithSource('ALFWorld', opening)]),
    labelTextWithSource('ALFWorld', observation),
    labelTextWithSource('ALFWorld', `Inventory: ${carried ?? 'nothing'}.`),
    ...(shown ? [labelTextWithSource('ALFWorld', `Commands: ${admissible.join(', ')}.`)] : []),
    ...(won
      ? [labelTextWithSource('ALFWorld', `Task completed! Score: ${score} of ${maxScore}. Leave when you are ready.`)]
      : []),
    ...(done && !won
      ? [labelTextWithSource('ALFWorld', `The game is over after ${steps} commands, without a win.`)]
      : []),
  ].join('\n');
}
