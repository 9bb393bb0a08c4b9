import { asJson } from '../../base/json.ts';
import type { Json } from '../../spec/types.ts';
import { type Body, toBody } from '../bodies.ts';
import { toDialectRecord } from '../dialects/fields.ts';
import type { Entry } from '../entry.ts';
import { patternToolOfEntry } from './pattern-tools.ts';

/**
 * Returns the entry with only those arguments and results that reviews and learning cycles read, so that a long session
 * needs little memory. The entries of pattern tools stay complete.
 */
export function removeToolOutput(entry: Entry): Entry {
  const body = toBody(entry.body);
  const isCall = body?.event === 'step' || body?.event === 'intent' || body?.event === 'outcome';
  return isCall && patternToolOfEntry(body) === null ? { ...entry, body: asJson(shortenBody(body)) } : entry;
}

function shortenBody(body: Extract<Body, { event: 'step' | 'intent' | 'outcome' }>): Body {
  if (body.event === 'intent') return { ...body, args: {} };
  const { outcome } = body;
  const short = { ...body, ...(body.event === 'step' ? { args: {} } : {}), observed: {}, state: {} };
  return outcome.status === 'ok' ? { ...short, outcome: { status: 'ok', result: neededParts(outcome.result) } } : short;
}

/** The parts of a result that reviews read: the result of a test run, the commit, and the paths of matches. */
function neededParts(result: Json): Json {
  const fields = toDialectRecord(result) ?? {};
  const pathOf = (match: Json) => ({ path: toDialectRecord(match)?.['path'] ?? null });
  const { matches } = fields;
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => ['verdict', 'committed', 'sha'].includes(name))),
    ...(Array.isArray(matches) ? { matches: matches.map(pathOf) } : {}),
  };
}
