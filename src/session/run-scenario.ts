import { isObject, type Json } from '../base/json.ts';
import type { Denial } from '../gate/denial.ts';
import type { CallControls } from '../ports/tool-backend.ts';
import type { Scenario, ScenarioAction, ScenarioStep } from '../spec/schema/scenario-file.ts';
import type { CloseResult, HopResult, ModeResult, StartResult, StepResult, StopResult } from './call-results.ts';
import type { Session } from './session.ts';

type AnyResult = StartResult | StepResult | HopResult | StopResult | ModeResult | CloseResult;

export interface ScenarioStepOutcome {
  readonly number: number;
  readonly step: ScenarioStep;
  readonly result: AnyResult;
  /** Descriptions of the differences between the result and the scenario's expectation; empty if there are none. */
  readonly surprises: readonly string[];
}

/**
 * Runs a scenario's steps in a session, one after the other. If a step differs from the expectation (an unexpected
 * denial, a missing one, another result), the difference is reported and the scenario continues.
 * @param onStep called with each step before it runs; the caller's approver may read its `approve`. It may return
 *   controls for the call of the step.
 */
export async function* runScenario(
  session: Session,
  scenario: Scenario,
  onStep: (step: ScenarioStep, number: number) => CallControls | undefined = () => undefined,
): AsyncGenerator<ScenarioStepOutcome> {
  for (const [index, step] of scenario.steps.entries()) {
    const watch = onStep(step, index + 1);
    const result = await takeAction(session, step.action, watch);
    yield { number: index + 1, step, result, surprises: unexpectedParts(step, result) };
  }
}

function takeAction(session: Session, action: ScenarioAction, watch?: CallControls): Promise<AnyResult> {
  switch (action.verb) {
    case 'mode': {
      const { verb: _, ...options } = action;
      return session.setMode(options);
    }
    case 'start': {
      const { verb: _, peripheral, ...options } = action;
      return session.start(peripheral, options);
    }
    case 'step':
      return session.step({ tool: action.tool, args: action.args, ...watch });
    case 'hop': {
      const { verb: _, reason = '', ...options } = action;
      return session.hop({ reason, ...options });
    }
    case 'stop':
      return session.stop(action.reason, action.fruit ? { fruit: action.fruit } : {});
    case 'close':
      return session.close(action.reason);
    default:
      return action satisfies never;
  }
}

function unexpectedParts({ expect }: ScenarioStep, result: AnyResult): string[] {
  if (expect && 'denied' in expect) {
    const would = 'wouldRefuse' in result ? result.wouldRefuse?.code : undefined;
    if (would === expect.denied) return [];
    if (result.ok) return [`expected the denial ${expect.denied}, but it was allowed`];
    return result.denial.code === expect.denied
      ? []
      : [`expected the denial ${expect.denied}, got ${result.denial.code}`];
  }
  if (!result.ok) return [`the denial ${(result.denial satisfies Denial).code}`];
  if (!expect)
    return 'outcome' in result && result.outcome === 'failed' ? [`the tool failed: ${result.error?.message}`] : [];
  const seen = comparableValues(result);
  return Object.entries(expect.result).flatMap(([path, wanted]) => {
    const value = valueAt(seen, path);
    return contains(value, wanted)
      ? []
      : [`expected ${path} to be ${JSON.stringify(wanted)}, got ${JSON.stringify(value) ?? 'nothing'}`];
  });
}

/** The values that a scenario may expect: of a step its result or error, of a visit its fruit and context. */
function comparableValues(result: Extract<AnyResult, { ok: true }>): Json {
  const { evidence: _, ok: __, ...rest } = result;
  const own = 'result' in result && result.result !== null && typeof result.result === 'object' ? result.result : {};
  return { ...own, ...JSON.parse(JSON.stringify(rest)) };
}

const valueAt = (value: Json | undefined, path: string): Json | undefined =>
  path.split('.').reduce<Json | undefined>((inner, key) => {
    if (inner === null || typeof inner !== 'object') return undefined;
    return Array.isArray(inner) ? inner[Number(key)] : inner[key];
  }, value);

/** True if a value equals the expected one. Of an object, only the expected keys are compared. */
function contains(value: Json | undefined, expected: Json): boolean {
  if (!isObject(expected)) return JSON.stringify(value) === JSON.stringify(expected);
  if (!isObject(value)) return false;
  return Object.entries(expected).every(([key, item]) => contains(value?.[key as keyof typeof value], item));
}
