import { fieldsOf, textOf } from '../base/json.ts';
import { BACKGROUND_TOOL_ID } from '../spec/policy/command-tools.ts';
import type { OutcomeRecord } from './bodies.ts';

/** The ids of the background commands that still run after a step, according to the step's result. */
export function runningCommandsAfter(
  running: readonly string[],
  { tool, outcome }: { readonly tool: string; readonly outcome: OutcomeRecord },
): readonly string[] {
  if (tool !== BACKGROUND_TOOL_ID || outcome.status === 'refused') return running;
  const result = fieldsOf(outcome.result);
  const job = textOf(result['job']);
  if (job === null) return running;
  const others = running.filter((each) => each !== job);
  return result['running'] === true ? [...others, job] : others;
}
