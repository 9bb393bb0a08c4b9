import type { FruitType, Json, PeripheralSpec, SpecSet } from '../../spec/types.ts';
import { celHolds } from '../rules/cel.ts';

/** The known facts at the moment at which a rule is evaluated; the rest may be anything. */
export interface Known {
  /** null represents every agent that no list of agents and no rule names. */
  readonly agent: string | null;
  readonly place: string | null;
  readonly mode: string | null;
  readonly testsPassed: boolean;
}

/** Limit of combinations to try; a rule with more counts as satisfiable. */
const MOST = 20_000;
const MEMBER = /\b(fruit|session|visit|tests|backpack|visits)\.([a-z_][a-z0-9_]*)/g;

/**
 * True if a rule can hold: it is tried on every combination of the values at which its comparisons change (each number
 * in it, one less, one more; each text in it; true and false; each value of a fruit). Exact for rules that compare one
 * fact with one value at a time.
 */
export function canHold(specs: SpecSet, cel: string, known: Known): boolean {
  const members = [...new Set([...cel.matchAll(MEMBER)].map((match) => `${match[1]}.${match[2]}`))];
  const values = members.map((member) => valuesOf(specs, member, cel, known));
  const combinations = values.reduce((count, list) => count * Math.max(1, list.length), 1);
  if (combinations > MOST) return true;
  for (let index = 0; index < combinations; index++) {
    const facts: { [root: string]: { [name: string]: Json } } = {
      fruit: {},
      session: {},
      visit: {},
      tests: {},
      backpack: {},
      visits: {},
    };
    let rest = index;
    members.forEach((member, number) => {
      const list = values[number]!;
      const [root = '', name = ''] = member.split('.');
      const value = list[rest % Math.max(1, list.length)];
      rest = Math.floor(rest / Math.max(1, list.length));
      if (value !== undefined) facts[root]![name] = value;
    });
    if (celHolds(cel, facts as never)) return true;
  }
  return false;
}

/** The texts that a rule mentions. */
export const textsIn = (cel: string): readonly string[] =>
  [...cel.matchAll(/"([^"]*)"|'([^']*)'/g)].map((match) => match[1] ?? match[2] ?? '');

/** The name of an agent that no rule mentions. */
const UNNAMED = 'another agent';

/** True if a rule only asks who the agent is; one that looks into the name may hold for some name that it omits. */
const comparesAgent = (cel: string): boolean =>
  !cel
    .replace(/\bsession\.agent\s*(?:==|!=|in\b)|(?:==|!=)\s*session\.agent\b(?!\s*[.[+])/g, '')
    .includes('session.agent');

function valuesOf(
  specs: SpecSet,
  member: string,
  cel: string,
  { agent, place, mode, testsPassed }: Known,
): readonly Json[] {
  const numbers = [...cel.matchAll(/\b\d+(?:\.\d+)?\b/g)].map(([text]) => Number(text));
  const counts = [...new Set([0, 1, ...numbers.flatMap((number) => [number - 1, number, number + 1])])].filter(
    (number) => number >= 0,
  );
  const texts = textsIn(cel);
  const [root, name] = member.split('.');
  switch (member) {
    case 'tests.passed':
      return [testsPassed];
    case 'session.mode':
      return [mode];
    case 'session.peripheral':
    case 'visit.peripheral':
      return [place];
    case 'session.agent':
      return agent === null ? [UNNAMED, ...(comparesAgent(cel) ? [] : ['', ...texts])] : [agent];
    default:
  }
  if (root === 'fruit')
    return fruitValues(place === null ? undefined : specs.peripherals[place], name ?? '', counts, texts);
  if (root === 'backpack') return [...counts, ...texts, true, false, ['x'], []];
  return counts.filter(
    (count) => member !== 'visit.steps' || count <= (limitOf(specs, place) ?? Number.POSITIVE_INFINITY),
  );
}

const limitOf = ({ peripherals }: SpecSet, place: string | null): number | null =>
  place === null ? null : (peripherals[place]?.limits.steps ?? null);

function fruitValues(
  spec: PeripheralSpec | undefined,
  name: string,
  counts: readonly number[],
  texts: readonly string[],
): readonly Json[] {
  const field = Object.entries(spec?.fruit ?? {}).find(([id]) => id.replaceAll('-', '_') === name)?.[1];
  if (!field) return [];
  const type: FruitType = field.type;
  if (typeof type !== 'string') return type;
  switch (type) {
    case 'integer':
    case 'number':
      return field.kind === 'stated' ? [...counts, ...counts.map((count) => -count)] : counts;
    case 'boolean':
      return [true, false];
    case 'string':
      return ['', 'x', ...texts];
    case 'list':
      return [[], ['x'], ['x', 'y', 'z'], texts as string[]];
    case 'object':
      return [{}];
  }
}
