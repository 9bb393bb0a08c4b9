import { type Fields, fieldsOf, type Json } from '../../base/json.ts';
import { type EffectRecord, toBody } from '../bodies.ts';
import type { Entry } from '../entry.ts';
import { describeFewerTests } from './weakened-tests.ts';

/** A fact about a changed file or a test run that a person must know before it ships. No rule forbids the change. */
export interface Finding {
  /** A root-relative path; for a finding about a test run, the test command. */
  readonly path: string;
  readonly why: string;
}

export const findingsOfEffects = (effects: readonly EffectRecord[]): readonly Finding[] =>
  effects.flatMap(({ path, finding: why }) => (why === undefined ? [] : [{ path, why }]));

export type FindingsByPath = { [path: string]: string };

/** Adds a step's findings to `found`, and removes outdated ones. A forged body may lack effects and must not throw. */
export function updateFindings(
  found: FindingsByPath,
  effects: readonly EffectRecord[] | 'unobserved' | undefined,
  result: Json | undefined,
): void {
  for (const { path, op, finding } of effects === 'unobserved' ? [] : (effects ?? [])) {
    if (finding !== undefined) found[path] = finding;
    // A deleted file cannot run, so its findings end. The findings of a changed file stay, because the reported change
    // may still be in it.
    else if (op === 'delete') delete found[path];
  }
  for (const run of wholePassesIn(result)) {
    const command = (run['command'] as Json[]).join(' ');
    const why = describeFewerTests(run);
    if (why !== null) found[command] = why;
    else delete found[command];
  }
}

/** Collects the findings of a session from its entries; a later entry can end a finding. */
export class SessionFindings {
  readonly #found: FindingsByPath = Object.create(null);

  add({ body }: Pick<Entry, 'body'>): void {
    const recorded = toBody(body);
    if (recorded?.event === 'outcome' || recorded?.event === 'step')
      updateFindings(
        this.#found,
        recorded.effects,
        recorded.outcome?.status === 'ok' ? recorded.outcome.result : undefined,
      );
  }

  list(): readonly Finding[] {
    return Object.entries(this.#found).map(([path, why]) => ({ path, why }));
  }
}

/** The reports of the full test runs that passed. */
function wholePassesIn(result: Json | undefined): Fields[] {
  const { runs, verdict, command, narrowed } = fieldsOf(result);
  if (Array.isArray(runs)) return runs.flatMap(wholePassesIn);
  return verdict === 'pass' && narrowed !== true && Array.isArray(command) ? [fieldsOf(result)] : [];
}
