import { nearest } from '../../spec/names.ts';
import type { SpecSet } from '../../spec/types.ts';
import { CliError } from '../io.ts';

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
