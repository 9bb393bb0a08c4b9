import type { PeripheralSpec } from '../spec/types.ts';
import type { MachineJson } from './machine-json.ts';

/**
 * Compiles the lifecycle of one visit to a peripheral. Steps are possible only in `active`. A visit that reached a
 * limit is `expired` and can only be stopped. A visit with an unknown outcome is `interrupted` until it is resumed.
 * Each visit has its own machine. Pure.
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
