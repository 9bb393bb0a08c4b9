import type { EffectRecord, OutcomeRecord } from '../evidence/bodies.ts';
import { standingAfter } from '../evidence/discipline.ts';
import { FILE_CHANGES } from '../spec/policy/closed-lists.ts';
import { MAX_FRUIT_FILES } from '../spec/policy/limits.ts';
import type { Json, Observation, PeripheralSpec } from '../spec/types.ts';
import { type Fields, fieldsOf, fits, listOf, sameJson, show, textOf } from './json.ts';
import { allPassed, lastOfEach, type Run, runsOf, type TestRuns } from './test-runs.ts';
import type { witnessOf } from './witness.ts';

export const isFileChange = ({ op }: EffectRecord): boolean => FILE_CHANGES.includes(op);

/** What a visit has yielded so far, counted again from its entries. */
export class Yield {
  readonly #close = new Set<string>();
  readonly #matched = new Set<string>();
  readonly #listed = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #patterns = new Set<string>();
  #runs: Run[] = [];
  #committed = false;
  #pushed = false;
  #sha: string | null = null;
  #deployed = false;
  #steps = 0;
  refusals = 0;
  par: Json = null;

  /**
   * @param change how often the code had been changed before this step
   * @param witness what its report is believed of
   */
  take(
    tool: string,
    outcome: OutcomeRecord,
    effects: readonly EffectRecord[],
    change: number,
    witness: ReturnType<typeof witnessOf>,
  ): readonly Run[] {
    this.#steps += 1;
    for (const effect of effects) if (isFileChange(effect)) put(this.#changed, effect.path);
    if (outcome.status !== 'ok') return [];
    const after = standingAfter(tool, outcome);
    if (after) put(this.#patterns, after.pattern);
    const result = fieldsOf(outcome.result);
    if (tool === 'read') put(this.#close, textOf(result['path']));
    for (const match of listOf(result['matches'])) put(this.#matched, textOf(fieldsOf(match)['path']));
    for (const file of listOf(result['files'])) put(this.#listed, textOf(file));
    if (witness === 'deploy') this.#takeShipping(tool, result);
    const runs = witness === 'test' ? runsOf(result, change) : [];
    this.#runs.push(...runs);
    return runs;
  }

  #takeShipping(tool: string, result: Fields): void {
    if (result['committed'] === true || result['pushed'] === true) this.#sha = textOf(result['sha']) ?? this.#sha;
    this.#committed ||= result['committed'] === true;
    this.#pushed ||= result['pushed'] === true;
    this.#deployed ||= tool === 'bash-deploy' && result['exit'] === 0;
  }

  /** The value of one observation now. */
  of(name: Observation, all: TestRuns): Json {
    switch (name) {
      case 'found': {
        const close = [...new Set([...this.#matched, ...this.#close])];
        return close.length > 0 ? close : [...this.#listed];
      }
      case 'changed-files':
        return [...this.#changed];
      case 'changes':
        return this.#changed.size;
      case 'result':
        return this.#result(all);
      case 'test-count': {
        const totals = lastOfEach(this.#runs).map(({ total }) => total);
        return totals.includes(null) ? null : totals.reduce<number>((sum, total) => sum + (total ?? 0), 0);
      }
      case 'failures':
        return lastOfEach(this.#runs).flatMap(({ failures }) => [...failures]);
      case 'committed':
        return this.#committed;
      case 'pushed':
        return this.#pushed;
      case 'sha':
        return this.#sha;
      case 'deployed':
        return this.#deployed;
      case 'steps':
        return this.#steps;
      case 'refusals':
        return this.refusals;
      case 'patterns':
        return [...this.#patterns];
      case 'par':
        return this.par;
      default:
        return name satisfies never;
    }
  }

  #result(all: TestRuns): Json {
    const last = lastOfEach(this.#runs);
    if (last.some(({ command, change }) => all.wavers(command, change))) return 'flaky';
    if (last.some(({ verdict }) => verdict === 'fail')) return 'fail';
    return last.some(({ verdict }) => verdict === 'pass') && allPassed(this.#runs) ? 'pass' : null;
  }
}

function put(files: Set<string>, path: string | null): void {
  if (path !== null && files.size < MAX_FRUIT_FILES) files.add(path);
}

/** What is wrong with a fruit: fields the spec does not have, types, missing fields, and observed values that were not observed. */
export function* fruitProblems(
  { fruit: rules }: PeripheralSpec,
  fruit: Fields,
  observe: ((name: Observation) => Json) | null,
): Generator<{ readonly field: string; readonly constraint: string; readonly message: string }> {
  for (const [field, rule] of Object.entries(rules)) {
    const value = fruit[field];
    const constraint = `${field}: ${rule.kind} ${typeof rule.type === 'string' ? rule.type : rule.type.join(' | ')}`;
    if (value === undefined) {
      if (rule.kind === 'observed' || !rule.optional) yield { field, constraint, message: `the fruit lacks ${field}` };
    } else if (!(rule.kind === 'observed' && value === null) && !fits(value, rule.type)) {
      yield { field, constraint, message: `${field} is ${show(value)}, which is not of this type` };
    } else if (rule.kind === 'observed' && observe !== null) {
      const seen = observe(rule.from);
      if (!sameJson(seen, value)) {
        yield { field, constraint, message: `${field} is ${show(value)}, but what happened amounts to ${show(seen)}` };
      }
    }
  }
  for (const field of Object.keys(fruit)) {
    if (!Object.hasOwn(rules, field)) {
      const names = Object.keys(rules).join(', ') || 'none';
      yield { field, constraint: `fruit: ${names}`, message: `the fruit holds ${field}, which the spec does not have` };
    }
  }
}
