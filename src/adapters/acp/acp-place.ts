import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import type { AgentSession } from '../core/agent-session.ts';

/** The ids of hopgate's own options. All other options of a session are the inner agent's. */
export const PERIPHERAL_OPTION_ID = 'hopgate-peripheral';
export const MODE_OPTION_ID = 'hopgate-mode';

/** The current place, and the peripherals and modes that can be entered from it. */
export async function readAcpPlace(
  session: AgentSession,
): Promise<{ readonly modes: SessionModeState | null; readonly configOptions: SessionConfigOption[] }> {
  const { peripheral, mode, available } = await session.status();
  const describeNeeds = ({ needs }: { readonly needs: readonly string[] }): { description?: string } =>
    needs.length === 0 ? {} : { description: `needs ${needs.join(' and ')}` };
  const choices = new Map(available.hops.map((way) => [way.to, { name: way.to, ...describeNeeds(way) }]));
  if (peripheral !== null) choices.set(peripheral, { name: peripheral });
  const peripherals = [...choices.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const modeChoices = available.modes
    .filter(({ to }) => to !== mode)
    .map((way) => ({ name: way.to, ...describeNeeds(way) }));
  return {
    modes:
      peripheral === null
        ? null
        : { currentModeId: peripheral, availableModes: peripherals.map((each) => ({ id: each.name, ...each })) },
    configOptions: [
      ...(peripheral === null ? [] : [select(PERIPHERAL_OPTION_ID, 'Peripheral', 'mode', peripheral, peripherals)]),
      ...(mode === null
        ? []
        : [select(MODE_OPTION_ID, 'Mode gate', 'hopgate', mode, [{ name: mode }, ...modeChoices])]),
    ],
  };
}

const select = (
  id: string,
  name: string,
  category: string,
  currentValue: string,
  choices: readonly { readonly name: string; readonly description?: string }[],
): SessionConfigOption => ({
  type: 'select',
  id,
  name,
  category,
  currentValue,
  options: choices.map((choice) => ({ value: choice.name, ...choice })),
});

/**
 * The inner agent's options for its model and thinking effort. Its permission modes are left out, because hopgate
 * answers its permission requests.
 */
export const listSettableOptions = (
  options: readonly SessionConfigOption[] | null | undefined,
): SessionConfigOption[] =>
  (options ?? []).filter(
    ({ id, category }) =>
      id !== PERIPHERAL_OPTION_ID &&
      id !== MODE_OPTION_ID &&
      ['model', 'model_config', 'thought_level'].includes(category ?? ''),
  );
