import { setTimeout as sleep } from 'node:timers/promises';
import { fetchJson, requestProblem, urlBelow } from '../base/http.ts';
import { fieldsOf, isObject, parseJson, textOf } from '../base/json.ts';
import { readAgentResponseText } from './drivers/http-driver.ts';
import { RUN_HTTP_STATUS, RunFailure, type RunReply } from './run-reply.ts';
import type { RunRequest } from './run-request.ts';

/** The data that nodes send with a run in addition to its request. */
export interface RunRoutingData {
  /** The idempotency key; the same on every node. */
  readonly key: string;
  /** How long the caller still waits, in milliseconds; null if there is no limit. */
  readonly budgetMs: number | null;
  /** The ids of the nodes that the run has passed. */
  readonly via: readonly string[];
}

/** The HTTP headers with which a node passes a run on. */
export const RUN_HEADER_NAMES = { key: 'Idempotency-Key', budget: 'Hopgate-Budget-Ms', via: 'Hopgate-Via' } as const;

/** Sends a run to another node, and returns its reply. */
export type SendRun = (request: RunRequest, route: RunRoutingData, signal: AbortSignal) => Promise<RunReply>;

/** The abort reason of a cancelled run, which also ends its agent. */
export const RUN_CANCELLED_REASON = Symbol('cancelled');

export const runCancelledFailure = (): RunFailure =>
  new RunFailure('cancelled', 'the run was cancelled', 'Start another run.');

/** Maximum number of repetitions of a request to a node that does not answer. */
const MAX_FAILURES = 8;

/**
 * Returns a function that sends a run to a node over HTTP. After a broken connection it repeats the request with the
 * same key, so that the other node continues the run instead of starting another.
 */
export function sendRunsOverHttp(url: string, token: string | null): SendRun {
  return async (request, route, signal) => {
    const startedAt = performance.now();
    for (let failures = 0; ; failures++) {
      const budgetMs = route.budgetMs === null ? null : route.budgetMs - (performance.now() - startedAt);
      try {
        return await post(url, token, request, { ...route, budgetMs }, signal);
      } catch (error) {
        if (error instanceof RunFailure) throw error;
        if (signal.reason === RUN_CANCELLED_REASON) {
          await cancelAt(url, token, route.key);
          throw runCancelledFailure();
        }
        if (signal.aborted) throw agentUnreachableFailure('the wait ended');
        if (failures >= MAX_FAILURES)
          throw agentUnreachableFailure(
            `its node ${url} does not answer: ${requestProblem(error)}`,
            'Start "hopgate serve" on that node, or correct the url in agents.yaml; then repeat the run with the same key.',
          );
        await sleep(Math.min(1_000, 20 * 2 ** failures), undefined, { signal }).catch(() => {});
      }
    }
  };
}

export const agentUnreachableFailure = (reason: string, remedy = 'Repeat the run with the same key.'): RunFailure =>
  new RunFailure('agent-unreachable', `the agent cannot be reached: ${reason}`, remedy);

/** Maximum number of requests to cancel a run on its node, and the time limit of each, in milliseconds. */
const [CANCEL_TRIES, CANCEL_MS] = [5, 2_000];

/** Cancels a run on its node. A node that lacks the run is asked again, because the run may arrive there later. */
async function cancelAt(url: string, token: string | null, key: string): Promise<void> {
  for (let tries = 0; tries < CANCEL_TRIES; tries++) {
    if (tries > 0) await sleep(20 * 2 ** tries);
    const signal = AbortSignal.timeout(CANCEL_MS);
    const answer = await fetchJson(urlBelow(url, 'agency/cancel'), { token, body: { key }, signal }).catch(() => null);
    const value = answer && fieldsOf(parseJson(await readAgentResponseText(answer).catch(() => '')));
    if (value?.['cancelled'] === true) return;
  }
}

async function post(
  url: string,
  token: string | null,
  request: RunRequest,
  { key, budgetMs, via }: RunRoutingData,
  signal: AbortSignal,
): Promise<RunReply> {
  const headers = {
    [RUN_HEADER_NAMES.key]: key,
    ...(via.length === 0 ? {} : { [RUN_HEADER_NAMES.via]: via.join(',') }),
    ...(budgetMs === null ? {} : { [RUN_HEADER_NAMES.budget]: String(Math.max(0, Math.floor(budgetMs))) }),
  };
  const answer = await fetchJson(urlBelow(url, 'agency/run'), { token, body: request, headers, signal });
  const value: unknown = JSON.parse(await readAgentResponseText(answer));
  const reply = parseRunReply(value);
  if (reply) return reply;
  if (answer.status >= 500) throw new Error(`HTTP status ${answer.status}`);
  const { message, remedy } = fieldsOf(fieldsOf(value)['error']);
  throw agentUnreachableFailure(
    `its node answered ${textOf(message) ?? answer.status}`,
    answer.status === 401
      ? 'Get the token with "hopgate agency token" on that node, and name its file under "token-file" in agents.yaml.'
      : (textOf(remedy) ?? undefined),
  );
}

export function parseRunReply(value: unknown): RunReply | null {
  const { ok, response, error, meta } = fieldsOf(value);
  const { 'agent-id': agent, 'duration-ms': duration } = fieldsOf(meta);
  if (typeof agent !== 'string' || typeof duration !== 'number') return null;
  if (ok === true && response !== undefined) return value as RunReply;
  const isError = isObject(error) && typeof error['code'] === 'string' && Object.hasOwn(RUN_HTTP_STATUS, error['code']);
  return ok === false && isError ? (value as RunReply) : null;
}
