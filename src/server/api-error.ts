import { explainSystemError } from '../base/system-error.ts';
import { SessionBusyError } from '../daemon/open-sessions.ts';
import { StoreError, type StoreErrorCode } from '../ports/evidence-store.ts';
import { ProjectError } from '../project/project-error.ts';
import { FoldError } from '../session/state/apply-entry.ts';
import { formatSpecProblems, SpecError } from '../spec/check/spec-problem.ts';

/**
 * The HTTP status of each error code. A denial by the gate is not an error: its response has status 200 and `ok:
 * false`.
 */
export const HTTP_STATUS_BY_CODE = {
  'invalid-request': 400,
  'invalid-spec': 400,
  'no-root': 400,
  'not-authenticated': 401,
  'login-failed': 401,
  forbidden: 403,
  'wrong-origin': 403,
  'wrong-host': 421,
  'not-found': 404,
  'unknown-session': 404,
  'unknown-entry': 404,
  'unknown-request': 404,
  'unknown-grant': 404,
  'unknown-message': 404,
  'session-busy': 409,
  'own-session': 409,
  'foreign-session': 409,
  'no-natural-close': 409,
  'already-answered': 409,
  'broken-evidence': 409,
  'project-error': 409,
  erased: 410,
  'body-too-large': 413,
  'too-many-streams': 429,
  'store-failed': 503,
  finishing: 503,
  'no-answer': 504,
  failed: 500,
} as const;
type ErrorCode = keyof typeof HTTP_STATUS_BY_CODE;

/** A refused request. `path` names the wrong part of the request: `body.tool`, `query.limit`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly remedy: string;
  readonly path: string | null;
  constructor(code: ErrorCode, message: string, remedy: string, path: string | null = null) {
    super(message);
    this.code = code;
    this.remedy = remedy;
    this.path = path;
  }

  get status(): (typeof HTTP_STATUS_BY_CODE)[ErrorCode] {
    return HTTP_STATUS_BY_CODE[this.code];
  }

  toJSON(): { readonly error: { code: ErrorCode; message: string; remedy: string; path?: string } } {
    const { code, message, remedy, path } = this;
    return { error: { code, message, remedy, ...(path === null ? {} : { path }) } };
  }
}

export const unknownSessionError = (id: string): ApiError =>
  new ApiError('unknown-session', `there is no session "${id}"`, 'List the sessions with GET /v1/sessions.');

const STORE_ERRORS: { readonly [code in StoreErrorCode]?: readonly [ErrorCode, string] } = {
  'session-not-found': ['unknown-session', 'List the sessions with GET /v1/sessions.'],
  'entry-not-found': ['unknown-entry', 'Use the id of an entry that this server returned.'],
  'session-busy': ['session-busy', 'Wait until the other writer has finished, then send the request again.'],
  'lease-expired': ['session-busy', 'Another writer took over; read the status, then send the request again.'],
  'chain-conflict': ['session-busy', 'Another writer was faster; send the request again.'],
  'invalid-query': ['invalid-request', 'Correct the named fields.'],
  'invalid-entry': ['invalid-request', 'Correct the named fields.'],
  'duplicate-id': ['invalid-request', 'Give the entry another id.'],
  'reply-not-found': ['invalid-request', 'Reply to an entry that exists.'],
  'fork-not-found': ['invalid-request', 'Fork an entry that exists.'],
  'blob-not-found': ['erased', 'The content was erased or removed; only the chain is left.'],
};

/** The API error for an error of another layer; null for an internal fault, whose text only the log may show. */
export function toApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (error instanceof SessionBusyError)
    return new ApiError('session-busy', error.message, 'Wait, then send the request again.');
  if (error instanceof FoldError) return new ApiError('broken-evidence', error.message, 'Run "hopgate verify".');
  if (error instanceof StoreError) {
    const [code, remedy] =
      STORE_ERRORS[error.code] ?? (['store-failed', 'Check the disk, then repeat the request.'] as const);
    return new ApiError(code, error.message, remedy);
  }
  if (error instanceof ProjectError)
    return new ApiError(error.code === 'no-root' ? 'no-root' : 'project-error', error.message, error.remedy);
  if (error instanceof SpecError)
    return new ApiError('invalid-spec', formatSpecProblems(error.issues), 'Correct them, then repeat the request.');
  const system = explainSystemError(error);
  return system && new ApiError('store-failed', system.message, system.remedy);
}
