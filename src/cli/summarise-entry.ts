import { type Body, bodyOf, type OutcomeRecord } from '../evidence/bodies.ts';
import type { StoredEntry } from '../evidence/entry.ts';
import type { Json } from '../spec/types.ts';

/** What an entry says, in one sentence for a list; text of agents and tools stands in it unescaped (see `excerpt`). */
export function summariseEntry({ entry, body }: StoredEntry): { readonly event: string; readonly text: string } {
  if (body === null) return { event: 'erased', text: '(the body was erased)' };
  const known = bodyOf(entry.body);
  return { event: known?.event ?? entry.type, text: (known && wording(known)) ?? compact(entry.body) };
}

const compact = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

const call = (tool: string, args: { readonly [name: string]: Json } = {}): string =>
  `${tool}${Object.values(args)
    .map((value) => ` ${compact(value)}`)
    .join('')}`;

function outcome(record: OutcomeRecord): string {
  return record.status === 'ok' ? 'ok' : `${record.status} (${record.code}): ${record.message}`;
}

const changes = (effects: Extract<Body, { event: 'outcome' }>['effects']): string =>
  effects === 'unobserved'
    ? '; nobody watched what it changed'
    : effects.length === 0
      ? ''
      : `; ${effects.map(({ op, path }) => `${op} ${path}`).join(', ')}`;

/** null for an event that we do not know: a later version may have written it. */
function wording(body: Body): string | null {
  switch (body.event) {
    case 'session-open':
      return `${body.agent} in ${body.root}${body.unsafeNoSandbox ? ', without a sandbox' : ''}`;
    case 'start':
      return `${body.peripheral}, by ${body.by}`;
    case 'step':
      return `${call(body.tool, body.args)}: ${outcome(body.outcome)}`;
    case 'intent':
      return call(body.tool, body.args);
    case 'outcome':
      return `${body.tool}: ${outcome(body.outcome)}${changes(body.effects)}`;
    case 'interrupted':
      return `${body.tool}: ${body.reason}`;
    case 'denial':
      return `${body.code}: ${body.message}`;
    case 'stop':
      return `${body.peripheral}, by ${body.by}: ${body.reason}`;
    case 'hop':
      return `${body.from} → ${body.to} (${body.exit}), by ${body.by}: ${body.reason}`;
    case 'mode':
      return `${body.from} → ${body.to} (${body.how}), by ${body.by}`;
    case 'approval':
      return `by ${body.record.by} (${body.record.via}): ${compact(body.request.action)}`;
    case 'expired':
      return `the time of ${body.peripheral} ran out`;
    case 'par':
      return compact(body.par);
    case 'session-closed':
      return `by ${body.by}: ${body.reason}${body.openSelections ? `; outcome not told: ${body.openSelections.join(', ')}` : ''}`;
    default:
      body satisfies never;
      return null;
  }
}
