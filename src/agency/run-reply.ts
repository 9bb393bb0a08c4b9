import type { Json } from '../base/json.ts';
import { plural } from '../base/text.ts';
import { SpecError } from '../spec/check/spec-problem.ts';

/** The code of each failed run, with its HTTP status. */
export const RUN_HTTP_STATUS = {
  'missing-inputs': 400,
  'unknown-inputs': 400,
  'invalid-request': 400,
  'unknown-agent': 404,
  'unknown-peripheral': 404,
  'unknown-run': 404,
  'context-refused': 403,
  'tools-refused': 403,
  cancelled: 409,
  'key-reused': 409,
  'run-interrupted': 409,
  'envelope-not-enforceable': 422,
  'invalid-registry': 500,
  'context-unavailable': 422,
  'session-unavailable': 422,
  'agent-failed': 502,
  'agent-not-started': 502,
  'agent-unreachable': 502,
  'invalid-response': 502,
  'timed-out': 504,
  'wait-ended': 504,
  'loop-refused': 508,
  'too-many-hops': 508,
} as const;
export type RunErrorCode = keyof typeof RUN_HTTP_STATUS;

/** The codes of a run that was refused before its agent started. */
export const REFUSED_RUN_CODES: ReadonlySet<RunErrorCode> = new Set<RunErrorCode>([
  'missing-inputs',
  'unknown-inputs',
  'invalid-request',
  'unknown-agent',
  'unknown-peripheral',
  'context-refused',
  'tools-refused',
  'key-reused',
  'envelope-not-enforceable',
  'agent-not-started',
  'invalid-registry',
  'context-unavailable',
  'session-unavailable',
  'loop-refused',
  'too-many-hops',
]);

interface RunMeta {
  readonly 'agent-id': string;
  readonly 'duration-ms': number;
}

/** The reply to a run. Its form is the same for local and remote agents. */
export type RunReply =
  | { readonly ok: true; readonly response: Json; readonly meta: RunMeta }
  | { readonly ok: false; readonly error: RunError; readonly meta: RunMeta };

interface RunError {
  readonly code: RunErrorCode;
  readonly message: string;
  readonly remedy: string;
}

/** Thrown if a run ends without a response. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
  readonly code: RunErrorCode;
  readonly remedy: string;
  constructor(code: RunErrorCode, message: string, remedy: string) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

/** Runs `work`, and returns its response or its RunFailure as a reply. Throws any other error. */
export async function runReplyOf(agent: string, work: () => Promise<Json>): Promise<RunReply> {
  const startedAt = performance.now();
  const meta = () => ({ 'agent-id': agent, 'duration-ms': Math.round(performance.now() - startedAt) });
  try {
    return { ok: true, response: await work(), meta: meta() };
  } catch (error) {
    const failure = error instanceof SpecError ? invalidRegistry(error) : error;
    if (!(failure instanceof RunFailure)) throw error;
    const { code, message, remedy } = failure;
    return { ok: false, error: { code, message, remedy }, meta: meta() };
  }
}

/**
 * The failure for a registry with errors. It omits the paths and values in the errors, which callers of a node must not
 * see.
 */
const invalidRegistry = ({ issues }: SpecError): RunFailure =>
  new RunFailure(
    'invalid-registry',
    `the agency folder of the node has ${plural(issues.length, 'problem')}`,
    'Run "hopgate agency check" on the node.',
  );
