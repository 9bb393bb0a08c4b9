import type { PeripheralSpec } from '../spec/types.ts';
import type { MachineJson } from './machine-json.ts';

/**
 * The life of one visit to a peripheral. Steps are taken only in `active`; a visit that reached a limit is `expired` and can only be stopped;
 * one whose outcome is unknown is `interrupted` until it is resumed. A later visit has a machine of its own. Pure.
 */
export function compileLifecycle({ id, purpose }: PeripheralSpec): MachineJson {
  const stop = { target: 'stopped' };
  return {
    id: `${id}-lifecycle`,
    description: purpose,
    initial: 'idle',
    states: {
      idle: { on: { start: { target: 'active' } } },
      active: {
        on: { step: { target: 'active' }, stop, expire: { target: 'expired' }, interrupt: { target: 'interrupted' } },
      },
      expired: { on: { stop } },
      interrupted: { on: { resume: { target: 'active' }, stop } },
      stopped: { type: 'final' },
    },
  };
}
