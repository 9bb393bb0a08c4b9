import { assertArgument } from '../base/assert-argument.ts';
import { isObject } from '../base/json.ts';
import { isBlank } from '../base/text.ts';
import { getOwn } from '../spec/names.ts';
import { SESSION_IDENTITY_FIELDS } from '../spec/policy/reserved-fields.ts';
import type { Fields, Json, PeripheralSpec } from '../spec/types.ts';
import type { SessionView } from './session-view.ts';

/**
 * The context that a visit to `target` starts with, and its missing fields. `fields` is the context from the caller of
 * `start`. `latest` has the fruit of the visit being left, which replaces older fruit. An empty text counts as missing.
 * @throws TypeError if `target` is not a peripheral of a spec set
 * @example
 * const view = { sessionId: 's-1', backpack: {}, fruits: {} };
 * const { missing } = transferContext(specs.peripherals['edit']!, view);
 */
export function transferContext(
  target: PeripheralSpec,
  view: Pick<SessionView, 'sessionId' | 'backpack' | 'fruits'>,
  fields: Fields = {},
  latest: SessionView['fruits'] = {},
): { readonly context: Fields; readonly missing: readonly { field: string; from: string }[] } {
  assertArgument(isObject(target) && isObject(target.context), 'transferContext: target', 'a peripheral', target);
  assertArgument(isObject(view), 'transferContext: view', '{ sessionId, backpack, fruits }', view);
  const others = Object.fromEntries(
    Object.entries(fields).filter(([field]) => !SESSION_IDENTITY_FIELDS.includes(field)),
  );
  const context: Record<string, Json> = {};
  const missing: { field: string; from: string }[] = [];
  for (const [field, { source, optional }] of Object.entries(target.context)) {
    const value = others[field] ?? sourceValue(field, source, view, latest);
    if (value !== undefined && value !== null && (optional || !isBlank(value))) context[field] = value;
    else if (!optional) missing.push({ field, from: source.kind === 'fruit' ? source.peripheral : 'the backpack' });
  }
  return { context: { ...others, ...context }, missing };
}

function sourceValue(
  field: string,
  source: PeripheralSpec['context'][string]['source'],
  view: Pick<SessionView, 'sessionId' | 'backpack' | 'fruits'>,
  latest: SessionView['fruits'],
): Json | undefined {
  if (source.kind === 'inherit') return field === 'session-id' ? view.sessionId : view.backpack[field];
  if (source.kind === 'fruit')
    return (getOwn(latest, source.peripheral) ?? getOwn(view.fruits, source.peripheral))?.[field];
  source.kind satisfies 'session-log';
  return { session: view.sessionId };
}
