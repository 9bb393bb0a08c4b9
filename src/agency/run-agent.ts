import { rejectOnAbort } from '../base/limited-wait.ts';
import { errorText, excerpt } from '../base/text.ts';
import type { AgencyPeripheral } from '../spec/agency/agency-types.ts';
import { compileAnswerCheck } from '../spec/agency/answer-check.ts';
import type { Json } from '../spec/types.ts';
import { type AgentDriver, AgentFailed, type AgentTask } from './agent-driver.ts';
import { RunFailure } from './run-reply.ts';
import { runCancelledFailure } from './send-run.ts';

/** Time limit of an agent's run in milliseconds, if its peripheral names none. */
const DEFAULT_TIMEOUT_MS = 600_000;

/**
 * Runs an agent of this node for one turn. If the answer does not have the form of the peripheral's response, a second
 * turn contains the error.
 * @param cancel aborted if the run is cancelled or its node closes
 * @throws RunFailure
 */
export async function runAgent(
  driver: AgentDriver,
  spec: AgencyPeripheral,
  prompt: string,
  cancel: AbortSignal,
): Promise<Json> {
  const unenforceable = driver.unenforceable(spec.tools);
  if (unenforceable.length > 0)
    throw new RunFailure(
      'envelope-not-enforceable',
      `the agent's program cannot switch ${unenforceable.map((key) => `${key} ${spec.tools[key] ? 'on' : 'off'}`).join(', ')}`,
      'Run this peripheral with another agent, or change its tools.',
    );
  const limit = AbortSignal.timeout(spec.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const task: AgentTask = {
    instructions: spec.entry,
    prompt,
    tools: spec.tools,
    schema: spec.response.type === 'json' ? spec.response.schema : null,
    signal: AbortSignal.any([limit, cancel]),
  };
  let hasStarted = false;
  const turn = async (text: string): Promise<string> => {
    for (let left = spec.retries; ; left--) {
      try {
        // An agent may ignore the signal.
        const answer = await rejectOnAbort(driver.run({ ...task, prompt: text }), task.signal);
        hasStarted = true;
        return answer;
      } catch (error) {
        hasStarted ||= !(error instanceof AgentFailed) || error.hasStarted;
        if (cancel.aborted) throw runCancelledFailure();
        if (limit.aborted)
          throw new RunFailure(
            'timed-out',
            `the agent did not answer within ${spec.timeoutMs ?? DEFAULT_TIMEOUT_MS} ms`,
            'Raise timeout-ms of the peripheral, or ask for less.',
          );
        if (left === 0) throw failedAgent(error, hasStarted);
      }
    }
  };
  const first = await turn(prompt);
  const read = readResponse(spec, first);
  if (read.ok) return read.response;
  const again = readResponse(spec, await turn(secondPrompt(prompt, first, read.problem)));
  if (again.ok) return again.response;
  throw new RunFailure(
    'invalid-response',
    `the answer has the wrong form, even on the second try: ${again.problem}`,
    'Correct the schema, or say in the template which form the answer has.',
  );
}

const failedAgent = (error: unknown, hasStarted: boolean): RunFailure =>
  new RunFailure(
    hasStarted ? 'agent-failed' : 'agent-not-started',
    errorText(error),
    (error instanceof AgentFailed && error.remedy) ||
      'Run the program of the agent by hand on its node, then start another run with a new key.',
  );

const secondPrompt = (prompt: string, answer: string, problem: string): string =>
  `${prompt}\n\nYour previous answer was refused: ${problem}\nThe answer was:\n${excerpt(answer, 2_000)}\n\nAnswer again, with nothing but the answer.`;

type ReadResponse = { readonly ok: true; readonly response: Json } | { readonly ok: false; readonly problem: string };

/** Reads an agent's text as its peripheral's response. JSON may be in a code fence. */
function readResponse({ response }: AgencyPeripheral, text: string): ReadResponse {
  if (response.type === 'text')
    return text.trim() === '' ? { ok: false, problem: 'the answer is empty' } : { ok: true, response: text };
  const plain = /^```(?:json)?[^\S\n]*\n([\s\S]*)\n[^\S\n]*```$/.exec(text.trim())?.[1] ?? text;
  let value: Json;
  try {
    value = JSON.parse(plain) as Json;
  } catch (error) {
    return { ok: false, problem: `the answer is not JSON: ${(error as Error).message}` };
  }
  const problem = compileAnswerCheck(response.schema)(value);
  return problem === null ? { ok: true, response: value } : { ok: false, problem };
}
