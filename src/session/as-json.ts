import { type Json, PRINCIPALS, type Principal } from '../spec/types.ts';

/**
 * A value from outside as plain JSON, so that it can be judged and recorded whatever it is: what JSON cannot say (a function, a cycle, a
 * bigint, NaN, an unpaired surrogate) becomes a text that says what it was. `undefined` members are left out.
 */
export function asJson(value: unknown, above: readonly object[] = []): Json {
  switch (typeof value) {
    case 'string':
      return value.toWellFormed();
    case 'boolean':
      return value;
    case 'number':
      // -0 is written as 0: what lives and what is read back have to be the same.
      return Number.isFinite(value) ? value + 0 : `[${value}]`;
    case 'object':
      break;
    default:
      return `[${typeof value}${typeof value === 'bigint' ? ` ${value}` : ''}]`;
  }
  if (value === null) return null;
  if (above.includes(value)) return '[cycle]';
  if (above.length >= MAX_DEPTH) return '[too deep]';
  const inside = [...above, value];
  if (Array.isArray(value)) return value.map((item) => asJson(item, inside));
  const pairs = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(pairs.map(([key, item]) => [key.toWellFormed(), asJson(item, inside)]));
}

const MAX_DEPTH = 64;

/** A text from outside: itself if it is one; nothing is the empty text, anything else its JSON. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value.toWellFormed() : JSON.stringify(asJson(value));
}

/** Who asks. Whoever says anything else is taken for the agent, who may least. */
export function asPrincipal(value: unknown): Principal {
  return PRINCIPALS.find((principal) => principal === value) ?? 'agent';
}
