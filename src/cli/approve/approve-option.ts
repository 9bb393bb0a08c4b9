import { Option } from 'commander';
import { nearest } from '../../spec/names.ts';
import type { SpecSet } from '../../spec/types.ts';
import { CliError } from '../io.ts';

/** `--approve NAMES`: approvals that the operator gives in advance. Check the names with {@link checkApproved}. */
export const approveOption = (): Option =>
  new Option(
    '--approve <names...>',
    'give these approvals: destinations (deploy), modes (execute), or all; separated by commas or spaces',
  ).argParser((word: string, before: readonly string[] = []) => [...before, ...approvedNames(word)]);

/** The names in one word: `execute,deploy`. */
export const approvedNames = (word: string): readonly string[] =>
  word
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/**
 * Checks that `--approve` names something that can be approved: a destination, a mode, or `all`.
 *
 * @throws CliError `usage`
 */
export function checkApproved(names: readonly string[], { peripherals, modeGate: gate }: SpecSet): void {
  const destinations = Object.keys(peripherals);
  const modes = gate ? Object.keys(gate.effects) : [];
  const all = [...destinations, ...modes, 'all'];
  const unknown = names.find((name) => !all.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, all);
  throw new CliError(
    'usage',
    `--approve: there is no destination or mode "${unknown}"`,
    `${near === null ? '' : `Did you mean ${near}? `}Destinations: ${destinations.join(', ')}; modes: ${modes.join(', ') || 'none'}; or all.`,
    { exitCode: 2 },
  );
}
