import { fieldsOf } from '../../base/json.ts';
import type { HopRequest, ModeRequest, StepRequest } from '../../gate/request.ts';
import type { Fields, Mode, Principal } from '../../spec/types.ts';
import { toPlainJson, toPrincipal, toText } from '../convert-input.ts';
import { type HopOptions, hopOptionsOf, type ShortHop } from '../short-hop.ts';

export interface StepCall {
  readonly tool: string;
  readonly args?: unknown;
}

/** A requested mode change; `by` is the agent unless stated. */
export type ModeOptions = Omit<ModeRequest, 'kind' | 'by' | 'approval'> & { readonly by?: Principal };

/**
 * Builds the gate's request for a hop from a caller's input, which is converted to plain JSON.
 * @param fields the fruit fields of the peripheral being left
 */
export function toHopRequest(hop: HopOptions | ShortHop, fields: readonly string[]): HopRequest {
  const options = hopOptionsOf(hop, fields);
  const { exit, fruit } = options;
  return {
    kind: 'hop',
    to: toText(options.to),
    reason: toText(options.reason),
    by: toPrincipal(options.by),
    ...(exit === undefined || exit === null ? {} : { exit: toText(exit) }),
    ...(fruit === undefined || fruit === null ? {} : { fruit: toFruitFields(fruit) }),
  };
}

/** Converts a stated fruit to plain JSON. Field names from EDN may end in a question mark: `ready-to-test?`. */
export function toFruitFields(fruit: unknown): Fields {
  const plain = toPlainJson(fruit) as Fields;
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) return plain;
  return Object.fromEntries(Object.entries(plain).map(([field, value]) => [field.replace(/\?$/, ''), value]));
}

export function toModeRequest(options: ModeOptions): ModeRequest {
  const { to, summary, reset, reason, exitCriteria, by } = fieldsOf(options);
  return {
    kind: 'mode',
    by: toPrincipal(by),
    to: toText(to) as Mode,
    ...(summary === undefined ? {} : { summary: toText(summary) }),
    ...(reset === undefined ? {} : { reset: reset === true }),
    ...(reason === undefined ? {} : { reason: toText(reason) }),
    ...(exitCriteria === undefined ? {} : { exitCriteria: toText(exitCriteria) }),
  };
}

export function toStepRequest(call: StepCall): StepRequest {
  const { tool, args } = fieldsOf(call);
  return { kind: 'step', tool: toText(tool), args: toPlainJson(args ?? {}) };
}
