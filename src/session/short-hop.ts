import { type AnyFields, fieldsOf } from '../base/json.ts';
import type { HopRequest } from '../gate/request.ts';
import type { Principal } from '../spec/types.ts';

/** A hop as a caller requests it. */
export interface HopOptions extends Omit<HopRequest, 'kind' | 'by' | 'approval' | 'fruit'> {
  readonly fruit?: AnyFields;
  readonly by?: Principal;
}

/**
 * The short form, for agents that can only write JSON: `{"hop": "edit", "reason": "found target file"}`. It has no
 * `by`, because an agent writes it.
 */
export interface ShortHop extends Omit<HopOptions, 'to' | 'by'> {
  readonly hop: string;
  /** Summary of the work. Becomes the stated fruit field `summary`, if the peripheral yields one. */
  readonly summary?: string;
}

/** Converts a hop of either form to hop options. @param fields the fruit fields of the peripheral being left */
export function hopOptionsOf(hop: HopOptions | ShortHop, fields: readonly string[]): HopOptions {
  if (!isShortHop(hop)) return fieldsOf(hop) as unknown as HopOptions;
  const { hop: to, reason, exit, summary } = hop;
  const fruit =
    summary === undefined || summary === null || !fields.includes('summary') ? hop.fruit : { summary, ...hop.fruit };
  return { to, reason, ...(exit === undefined ? {} : { exit }), ...(fruit === undefined ? {} : { fruit }) };
}

const isShortHop = (hop: HopOptions | ShortHop): hop is ShortHop => 'hop' in fieldsOf(hop);
