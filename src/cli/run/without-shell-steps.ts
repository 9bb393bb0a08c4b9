import { getOwn } from '../../spec/names.ts';
import { takesCommandArgument } from '../../spec/policy/argument-roles.ts';
import type { Scenario, ScenarioStep } from '../../spec/schema/scenario-file.ts';
import type { SpecSet } from '../../spec/types.ts';

/**
 * The part of a scenario that a machine without a sandbox can play: no calls of shell tools. It ends before the first
 * hop to a peripheral whose work begins with such a call.
 *
 * @example withoutShellSteps(scenario, specs).steps.length; // fewer than scenario.steps.length, if a step needs the
 *   shell
 */
export function withoutShellSteps(scenario: Scenario, { tools }: Pick<SpecSet, 'tools'>): Scenario {
  const isShell = (step: ScenarioStep | undefined): boolean =>
    step?.action.verb === 'step' && takesCommandArgument(getOwn(tools, step.action.tool));
  const { steps } = scenario;
  const end = steps.findIndex(({ action }, at) => action.verb === 'hop' && isShell(steps[at + 1]));
  const last = steps[end];
  if (last === undefined) return { ...scenario, steps: steps.filter((step) => !isShell(step)) };
  const reason = 'the next step needs the shell';
  const ending = { line: last.line, say: null, approve: null, expect: null };
  return {
    ...scenario,
    steps: [
      ...steps.slice(0, end).filter((step) => !isShell(step)),
      { ...ending, action: { verb: 'stop', reason } },
      { ...ending, action: { verb: 'close', reason } },
    ],
  };
}
