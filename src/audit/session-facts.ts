import type { Json, Principal } from '../spec/types.ts';
import { TESTS_PASSED } from '../spec/types.ts';
import { type Fields, sameJson, show } from './json.ts';
import type { Ledger, Visit } from './ledger.ts';
import type { Report } from './report.ts';
import { type CelWorld, celHolds } from './rules-in-cel.ts';

/** Where a session stood when something was decided. For a hop, that is before its stop. */
export interface Moment {
  readonly ledger: Ledger;
  readonly by: Principal;
  readonly visit: Visit | null;
  readonly fruit: Fields;
  readonly backpack: Fields;
  readonly successes: number;
}

export const testsPassed = ({ ledger }: Moment): boolean => ledger.runs.standing(ledger.change).passed;

export const naturalClose = ({ ledger, successes }: Moment): boolean => successes > 0 && ledger.pending === null;

function celWorld({ ledger, visit, fruit, backpack }: Moment): CelWorld {
  const peripheral = visit?.peripheral ?? null;
  return {
    fruit,
    session: {
      agent: ledger.agent,
      steps: ledger.steps,
      visits: Object.values(ledger.visits).reduce((sum, count) => sum + count, 0),
      denials: ledger.denials,
      mode: ledger.mode,
      peripheral,
    },
    visit: { steps: visit?.steps ?? 0, denials: visit?.denials ?? 0, peripheral },
    tests: { ...ledger.runs.standing(ledger.change) },
    backpack,
    visits: { ...ledger.visits },
  };
}

export const ruleHolds = (moment: Moment, cel: string): boolean => celHolds(cel, celWorld(moment));

export function conditionHolds(moment: Moment, name: string): boolean {
  if (name === TESTS_PASSED) return testsPassed(moment);
  const { conditions } = moment.ledger.pinned.specs;
  const rule = Object.hasOwn(conditions, name) ? conditions[name] : undefined;
  return rule !== undefined && ruleHolds(moment, rule);
}

/** The facts as they should have ridden in the event. */
export function factsOf(
  moment: Moment,
  named: {
    readonly conditions?: readonly string[];
    readonly when?: readonly string[];
    readonly approved?: boolean;
    readonly summary?: string | null;
  },
): Fields {
  const { ledger, by, visit, fruit } = moment;
  const evaluated = (names: readonly string[] | undefined, judge: (name: string) => boolean): Json =>
    Object.fromEntries((names ?? []).map((name) => [name, judge(name)]));
  return {
    by,
    source: visit?.peripheral ?? null,
    agent: ledger.agent,
    firstVisit: !ledger.visited,
    atSessionClose: ledger.visited && visit === null,
    naturalClose: naturalClose(moment),
    fruit: { ...fruit },
    conditions: evaluated(named.conditions, (name) => conditionHolds(moment, name)),
    when: evaluated(named.when, (cel) => ruleHolds(moment, cel)),
    approved: named.approved ?? false,
    summary: named.summary ?? null,
    patterns: { ...ledger.patterns },
  };
}

/** Facts in an event are claims: each has to be what the entries before it amount to. */
export function judgeFacts(claimed: Fields, facts: Fields, report: Report): void {
  for (const name of new Set([...Object.keys(facts), ...Object.keys(claimed)])) {
    if (!sameJson(claimed[name], facts[name]))
      report.counted('facts', `${name}: ${show(facts[name])}`, `the entry says ${name}: ${show(claimed[name])}`);
  }
}
