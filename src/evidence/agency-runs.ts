import { fieldsOf, textOf } from '../base/json.ts';
import { AGENCY_TOOL_ID } from '../spec/policy/tool-ids.ts';
import type { Body, OutcomeRecord } from './bodies.ts';
import { canonicalJson } from './canonical.ts';

/** The error codes of calls that may have ended before their run. */
const UNKNOWN_END = ['aborted', 'agent-unreachable', 'backend-error'];

/**
 * Follows the runs of the agency in the entries of a session. Each call is a new run, unless an equal earlier call was
 * interrupted or stopped waiting: then the call joins that run, and gets its reply.
 */
export class AgencyRunTracker {
  readonly #open = new Map<string, string>();
  #call: { readonly what: string; readonly run: string } | null = null;

  /** The idempotency key of the run of the last call; null if there is none. */
  get run(): string | null {
    return this.#call?.run ?? null;
  }

  /** @param id the id of the entry */
  add(id: string, body: Body): void {
    if (!('tool' in body) || body.tool !== AGENCY_TOOL_ID) return;
    if (body.event === 'intent') {
      const { seconds: _, ...request } = body.args;
      const what = canonicalJson(request);
      this.#call = { what, run: this.#open.get(what) ?? `run.${id}` };
      this.#open.set(what, this.#call.run);
    } else if (body.event === 'outcome' && this.#call && isOver(body.outcome)) this.#open.delete(this.#call.what);
  }
}

function isOver(outcome: OutcomeRecord): boolean {
  if (outcome.status === 'ok') return textOf(fieldsOf(outcome.result)['status']) !== 'waiting';
  return !(outcome.status === 'failed' && UNKNOWN_END.includes(outcome.code));
}
