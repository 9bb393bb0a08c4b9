import { NearestNode } from '../../agency/nearest-node.ts';
import type { RunReply } from '../../agency/run-reply.ts';
import type { RunRequest } from '../../agency/run-request.ts';
import { rejectOnAbort } from '../../base/limited-wait.ts';
import type { Env } from '../../base/user-folders.ts';
import { AgencyRunTracker } from '../../evidence/agency-runs.ts';
import { toBody } from '../../evidence/bodies.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { ToolBackend, ToolCall, ToolOutcome, ToolReport } from '../../ports/tool-backend.ts';
import { LAZY_BACKENDS } from '../../spec/policy/tool-ids.ts';
import type { Fields, Json } from '../../spec/types.ts';
import { reportIfAborted } from '../tool-outcomes.ts';

/** Default time in seconds that a call waits for its run; shorter than the limit of client programs for a tool call. */
const DEFAULT_SECONDS = 45;
/** Maximum size of a response that becomes fruit, in bytes of JSON. */
const MAX_FRUIT = 32 * 1024;

/**
 * `agency-run` runs an agent of the agency as a step of the session. The step's intent, recorded before the run,
 * determines its idempotency key. So after a kill of the session's process, the same call gets the reply of the same
 * run, on any node.
 */
export function agencyBackend(store: EvidenceStore, env: () => Env): ToolBackend {
  let nearest: NearestNode | null = null;
  return {
    ...LAZY_BACKENDS.agency,
    async run(call) {
      const aborted = reportIfAborted(call);
      if (aborted) return aborted;
      nearest ??= new NearestNode({ env: env(), role: 'agent' });
      return run(nearest, await runKeyOf(store, call.sessionId), call);
    },
    close: async () => nearest?.close(),
  };
}

async function run(nearest: NearestNode, key: string, call: ToolCall): Promise<ToolReport> {
  const { signal, args } = call;
  const began = Date.now();
  const budgetMs = (typeof args['seconds'] === 'number' ? args['seconds'] : DEFAULT_SECONDS) * 1_000;
  const { request, lendsTools } = requestOf(call);
  const sent = nearest.send(request, { key, budgetMs, via: [] }, signal);
  const reply = await rejectOnAbort(sent, signal).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  const waited = { run: key, waitedMs: Date.now() - began };
  // The run's agent gets tools, so it may change files of the session's repository.
  const effects = lendsTools ? 'unobserved' : [];
  if (reply === null || signal.aborted) {
    const message = 'The wait was aborted; the run continues. Make the same call again to get its reply.';
    return { outcome: { status: 'failed', code: 'aborted', message, result: waited }, effects };
  }
  const { meta } = reply;
  if (!reply.ok) return { outcome: failed(reply, waited), effects };
  const { response } = reply;
  const text = typeof response === 'string' ? response : JSON.stringify(response);
  const result = { status: 'answered', ...waited, response, durationMs: meta['duration-ms'] };
  return {
    outcome: { status: 'ok', result },
    effects,
    observed: { response: JSON.stringify(text).length > MAX_FRUIT ? null : text },
  };
}

function failed({ error }: Extract<RunReply, { ok: false }>, waited: Fields): ToolOutcome {
  const { code, message, remedy } = error;
  if (code !== 'wait-ended') return { status: 'failed', code, message: `${message}. ${remedy}`, result: waited };
  return {
    status: 'ok',
    result: { status: 'waiting', ...waited, note: 'The run continues. Make the same call again to get its reply.' },
  };
}

function requestOf({ args, envelope }: ToolCall): { readonly request: RunRequest; readonly lendsTools: boolean } {
  const { agent, peripheral, inputs, prompt } = args;
  const lendsTools = envelope.scope.agency?.find(({ to }) => to === peripheral)?.within === 'own';
  return {
    lendsTools,
    request: {
      'agent-id': String(agent),
      peripheral: String(peripheral),
      ...(inputs === undefined && prompt !== undefined ? {} : { inputs: { ...(inputs as { [name: string]: Json }) } }),
      ...(prompt === undefined ? {} : { prompt: String(prompt) }),
      ...(lendsTools ? {} : { tools: 'off' as const }),
    },
  };
}

/** The idempotency key of the agency run that the session started last. */
async function runKeyOf(store: EvidenceStore, sessionId: string): Promise<string> {
  const runs = new AgencyRunTracker();
  for await (const { entry } of store.entries(sessionId)) {
    const body = toBody(entry.body);
    if (body) runs.add(entry.id, body);
  }
  if (runs.run === null) throw new Error('the session has no intent for this call');
  return runs.run;
}
