import type { SpecProblem } from '../check/spec-problem.ts';
import { readYaml } from '../load/read-yaml.ts';
import { type SpecSource, specProblemReporter } from '../load/source-document.ts';
import { parseValidParts } from '../schema/parse-partial.ts';
import { SCENARIO_VERBS, type Scenario, type ScenarioAction, ScenarioFile } from '../schema/scenario-file.ts';
import type { ParsedSpecs } from './parse-spec-set.ts';

/** Reads a scenario. Pure. All problems are reported at once. */
export function parseScenario(source: SpecSource): ParsedSpecs<'scenario', Scenario> {
  const { document, problems: found } = readYaml(source);
  const problems: SpecProblem[] = found;
  if (problems.length > 0) return { ok: false, problems };
  const report = specProblemReporter(document, [], problems);
  const { value } = document;
  const wrong = verbProblems(value);
  for (const { index, verbs } of wrong) {
    const message =
      verbs.length === 0 ? 'the step has no verb' : `the step has ${verbs.length} verbs: ${verbs.join(', ')}`;
    report(['steps', index], message, `write exactly one of ${SCENARIO_VERBS.join(', ')}`);
  }
  if (wrong.length > 0) return { ok: false, problems };
  const authored = parseValidParts(ScenarioFile, value, report);
  if (problems.length > 0) return { ok: false, problems };
  const { title, agent = 'scripted', fixture = null, specs = null, steps } = authored as ScenarioFile;
  return {
    ok: true,
    scenario: {
      title,
      agent,
      fixture,
      specs,
      steps: steps.map((step, index) => ({
        action: actionOf(step),
        say: step.say ?? null,
        approve: step.approve ?? null,
        expect: step.expect ?? null,
        line: document.lineOf(['steps', index]) ?? null,
      })),
    },
  };
}

function verbProblems(value: unknown): { index: number; verbs: string[] }[] {
  const steps = (value as { steps?: unknown } | null)?.steps;
  if (!Array.isArray(steps)) return [];
  return steps.flatMap((step: unknown, index) => {
    if (typeof step !== 'object' || step === null) return [];
    const verbs = SCENARIO_VERBS.filter((verb) => Object.hasOwn(step, verb));
    return verbs.length === 1 ? [] : [{ index, verbs }];
  });
}

function actionOf(step: ScenarioFile['steps'][number]): ScenarioAction {
  if ('mode' in step) return { verb: 'mode', ...(typeof step.mode === 'string' ? { to: step.mode } : step.mode) };
  if ('start' in step)
    return { verb: 'start', ...(typeof step.start === 'string' ? { peripheral: step.start } : step.start) };
  if ('step' in step) return { verb: 'step', tool: step.step.tool, args: step.step.args ?? {} };
  if ('hop' in step) return { verb: 'hop', ...step.hop };
  if ('stop' in step) return { verb: 'stop', ...(typeof step.stop === 'string' ? { reason: step.stop } : step.stop) };
  return { verb: 'close', ...(step.close === true ? {} : { reason: step.close }) };
}
