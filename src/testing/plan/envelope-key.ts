import type { PeripheralSpec } from '../../spec/types.ts';

/** A key that two peripherals share if only their edges differ: a visit allows and refuses the same calls in both. */
export const envelopeKey = (spec: PeripheralSpec): string => {
  const { tools, scope, fruit, calls, context, delegates, agencies, limits, exits } = spec;
  return JSON.stringify([tools, scope, fruit, calls, context, delegates, agencies, limits, exits[0]?.implies]);
};
