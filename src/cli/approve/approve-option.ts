import { Option } from 'commander';
import { mayNeedApproval } from '../../spec/call-gates.ts';
import { didYouMean } from '../../spec/names.ts';
import type { SpecSet } from '../../spec/types.ts';
import { usageError } from '../io.ts';

/** Makes `--approve NAMES`, by which the operator approves in advance. {@link checkApproveOption} checks the names. */
export const approveOption = (): Option =>
  new Option(
    '--approve <names...>',
    'give these approvals: destinations (deploy), modes (execute), tools whose calls need one, or all; separated by commas or spaces',
  ).argParser((word: string, before: readonly string[] = []) => [...before, ...splitAtCommas(word)]);

export const splitAtCommas = (word: string): readonly string[] =>
  word
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/**
 * Checks that `--approve` names something that can be approved: a destination, a mode, a tool whose calls need an
 * approval, or `all`.
 * @throws CliError `usage`
 */
export function checkApproveOption(names: readonly string[], { peripherals, modeGate, tools }: SpecSet): void {
  const destinations = Object.keys(peripherals);
  const modes = modeGate ? Object.keys(modeGate.effects) : [];
  const gated = Object.values(tools).filter((tool) =>
    [undefined, ...Object.values(peripherals)].some((each) => mayNeedApproval(tool, each)),
  );
  const calls = gated.map(({ id }) => id);
  const all = [...destinations, ...modes, ...calls, 'all'];
  const unknown = names.find((name) => !all.includes(name));
  if (unknown === undefined) return;
  throw usageError(
    `--approve: there is no destination, mode or tool "${unknown}" to approve`,
    `${didYouMean(unknown, all)}Destinations: ${destinations.join(', ')}; modes: ${modes.join(', ') || 'none'}; ${calls.length === 0 ? '' : `tools: ${calls.join(', ')}; `}or all.`,
  );
}
