import type { ModeRequest, Request } from '../../gate/request.ts';
import type { Json, Mode, Principal } from '../../spec/types.ts';
import { asJson, asPrincipal, asText } from '../as-json.ts';
import { type HopOptions, readHop, type ShortHop } from '../short-hop.ts';

export interface StepCall {
  readonly tool: string;
  readonly args?: unknown;
}

/** A change of mode as a caller requests it; by default the agent. */
export type ModeOptions = Omit<ModeRequest, 'kind' | 'by' | 'approval'> & { readonly by?: Principal };

/**
 * Builds the gate's request for a hop; everything that the caller passed is converted to plain JSON. `fields`: the
 * fruit fields of the peripheral being left.
 */
export function hopRequest(hop: HopOptions | ShortHop, fields: readonly string[]): Extract<Request, { kind: 'hop' }> {
  const options = readHop(hop, fields);
  const { exit, fruit } = options;
  return {
    kind: 'hop',
    to: asText(options.to),
    reason: asText(options.reason),
    by: asPrincipal(options.by),
    ...(exit === undefined ? {} : { exit: asText(exit) }),
    ...(fruit === undefined ? {} : { fruit: asFruit(fruit) }),
  };
}

/** A stated fruit as plain JSON. Field names from EDN may end in a question mark: `ready-to-test?`. */
export function asFruit(fruit: unknown): { readonly [field: string]: Json } {
  const plain = asJson(fruit) as { readonly [field: string]: Json };
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) return plain;
  return Object.fromEntries(Object.entries(plain).map(([field, value]) => [field.replace(/\?$/, ''), value]));
}

export function modeRequest(options: ModeOptions): Extract<Request, { kind: 'mode' }> {
  const { to, summary, reset, reason, exitCriteria } = options;
  return {
    kind: 'mode',
    by: asPrincipal(options.by),
    to: asText(to) as Mode,
    ...(summary === undefined ? {} : { summary: asText(summary) }),
    ...(reset === undefined ? {} : { reset: reset === true }),
    ...(reason === undefined ? {} : { reason: asText(reason) }),
    ...(exitCriteria === undefined ? {} : { exitCriteria: asText(exitCriteria) }),
  };
}

export const stepRequest = ({ tool, args }: StepCall): Extract<Request, { kind: 'step' }> => ({
  kind: 'step',
  tool: asText(tool),
  args: asJson(args ?? {}),
});
