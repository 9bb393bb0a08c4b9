import type { AddSessionContext } from '../agency/agency-node.ts';
import { RunFailure } from '../agency/run-reply.ts';
import { MAX_CONTEXT_CHARS, type RunRequest, type SessionContextRequest } from '../agency/run-request.ts';
import { fieldsOf } from '../base/json.ts';
import { excerpt } from '../base/text.ts';
import type { Entry } from '../evidence/entry.ts';
import type { Session } from '../session/session.ts';
import { mayStartSubAgent } from '../session/sub-agent.ts';
import type { ContextBlockKind } from '../spec/agency/agency-types.ts';
import { getOwn } from '../spec/names.ts';
import { summariseEntryInOneLine } from '../view/entry-summary.ts';
import type { Requester } from './access/tokens.ts';
import { ApiError } from './api-error.ts';
import { withHostedSession } from './routes/use-session.ts';
import type { ServerServices } from './services.ts';

/** Maximum number of characters of one entry in the block `evidence`. */
const ENTRY_CHARACTERS = 1_000;

/**
 * Checks that a requester may start a run. Only the operator and a session itself may send the context of that session.
 * If the session's peripheral has `delegates`, the session's gate judges and records the run. Without `delegates`, the
 * session's agent may only run agents that have no tools: a run must not do what the session's gate forbids.
 * @param run the key of the run
 * @returns the request, with `tools: off` if the run may have no tools: the agent's node may define others
 * @throws ApiError `forbidden`
 */
export async function checkRunRequester(
  services: ServerServices,
  who: Requester,
  request: RunRequest,
  run: string,
): Promise<RunRequest> {
  const { agency } = services;
  const session = request['context-from']?.session;
  const isOwn = who.role === 'operator' || (who.role === 'session' && who.session === session);
  if (session !== undefined && !isOwn)
    throw new ApiError(
      'forbidden',
      `the ${who.role} may not read session ${session}`,
      'Use the token of that session, or of the operator.',
      'body.context-from.session',
    );
  if (who.role !== 'session') return request;
  const tools = getOwn(agency.spec().peripherals, request.peripheral)?.tools;
  const acts = Object.values(tools ?? {}).includes(true);
  const allowed: RunRequest = acts ? request : { ...request, tools: 'off' };
  if (tools && (await isDelegated(services, who.session, request, { run, acts }))) return allowed;
  if (!tools || acts)
    throw new ApiError(
      'forbidden',
      `the agent of a session may not run "${request.peripheral}", which ${tools ? 'has tools' : 'this node does not know'}`,
      'Name an agency peripheral of this node whose tools are all off, or ask the operator to run it.',
      'body.peripheral',
    );
  return allowed;
}

/** True if the gate of a session admits a run; false if its peripheral names no delegates. @throws ApiError */
async function isDelegated(
  services: ServerServices,
  id: string,
  { peripheral, 'agent-id': agent }: RunRequest,
  { run, acts }: { readonly run: string; readonly acts: boolean },
): Promise<boolean> {
  const done = await withHostedSession(services, id, 'a run of the agency', async (session) => {
    const delegates = mayStartSubAgent(session);
    if (!delegates || (await isRecorded(session, run, peripheral))) return { ok: true as const, by: delegates };
    const made = await session.delegate({ to: peripheral, reason: `run of ${agent}`, agency: { run, acts } });
    return made.ok ? { ok: true as const, by: true } : made;
  });
  if (!done.ok) throw new ApiError('forbidden', done.denial.message, done.denial.remedy, 'body.peripheral');
  return done.by;
}

/** True if the session has recorded this run in the present visit and mode, so that a repeated request joins it. */
async function isRecorded(session: Session, run: string, peripheral: string): Promise<boolean> {
  const bodies = (await session.evidence()).map(({ body }) => fieldsOf(body));
  const since = bodies.findLastIndex(({ event }) => event === 'start' || event === 'mode');
  return bodies.some(({ agency = null, to }, at) => at > since && to === peripheral && fieldsOf(agency)['run'] === run);
}

/**
 * Adds the context of a session to a run. Files are read by steps of that session, so its gate, scope, masks and limits
 * apply, and each read is in its evidence. A refused read refuses the run with `context-refused`.
 */
export const addSessionContext =
  (services: ServerServices): AddSessionContext =>
  async ({ 'context-from': _, ...request }, from) => {
    const { store } = await services.allEvidence.ownSession(from.session);
    const count = from.entries ?? 20;
    const page = await store.query({ sessionId: from.session, limit: count });
    const entries = page.entries.map(({ entry }) => entry as Entry).reverse();
    const turns = entries.map(lineOf);
    const evidence = entries.map((entry) => excerpt(JSON.stringify(entry), ENTRY_CHARACTERS));
    const files = await filesOf(services, from);
    const blocks = {
      'last-turns': turns.join('\n'),
      evidence: evidence.join('\n'),
      ...(files === null ? {} : { files }),
    };
    // A peripheral that this node knows gets only the context blocks that it asks for.
    const blockNames = getOwn(services.agency.spec().peripherals, request.peripheral)?.context;
    const sent = Object.entries(blocks).filter(([block]) => blockNames?.includes(block as ContextBlockKind) ?? true);
    return { ...request, context: { ...request.context, ...Object.fromEntries(sent) } };
  };

const lineOf = (entry: Entry): string => {
  const { event, text } = summariseEntryInOneLine(entry);
  return `${entry.at} ${entry.peripheral ?? '-'} ${event}: ${text}`;
};

async function filesOf(
  services: ServerServices,
  { session: id, files }: SessionContextRequest,
): Promise<string | null> {
  if (files === undefined) return null;
  let text = '';
  for (const path of files) {
    const read = await withHostedSession(services, id, 'context of a run', (session) =>
      session.step({ tool: 'read', args: { path } }),
    );
    if (!read.ok)
      throw new RunFailure(
        'context-refused',
        `${path}: ${read.denial.code}: ${read.denial.message}`,
        read.denial.remedy,
      );
    if (read.outcome === 'failed')
      throw new RunFailure('context-refused', `${path}: ${read.error?.message ?? 'unreadable'}`, 'Name another file.');
    text += `${text === '' ? '' : '\n\n'}${path}:\n${String(fieldsOf(read.result)['text'] ?? '')}`;
    // Each server of the agency refuses a run with a larger context.
    if (text.length > MAX_CONTEXT_CHARS)
      throw new RunFailure(
        'context-refused',
        `${path}: the files up to this one have ${text.length} characters, and a run may have ${MAX_CONTEXT_CHARS}`,
        'Name fewer files.',
      );
  }
  return text;
}
