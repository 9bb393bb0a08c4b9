import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isObject } from '../../base/json.ts';
import type { AgentCall } from '../core/agent-session.ts';
import { isUnapproved } from '../core/approval-collection.ts';
import { commandQuestion } from '../core/approval-question.ts';
import { callResult } from './answer-shape.ts';
import { personAt, UNTICKED_AGAIN } from './asking.ts';
import type { McpHost, Peer } from './host.ts';
import { heartbeat } from './progress.ts';

/** Milliseconds for a client to process a list that it has just received. */
const GRACE = 30;

/** Carries out one `tools/call`, in order. If an approval is missing, asks a person first. */
export async function carryOut(
  host: McpHost,
  server: Server,
  peer: Peer,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { session, progressMs = 5000, relistMs = 500, waitSeconds = 45, inTrace = (_, work) => work() } = host.options;
  const { signal } = ctx.mcpReq;
  const { 'claudecode/toolUseId': callId, traceparent, tracestate } = params._meta ?? {};
  const called: AgentCall = {
    name: params.name,
    input: params.arguments ?? {},
    signal,
    ...(typeof callId === 'string' ? { callId } : {}),
    ...(typeof traceparent === 'string'
      ? { trace: { traceparent, ...(typeof tracestate === 'string' ? { tracestate } : {}) } }
      : {}),
  };
  const stop = heartbeat(ctx, `${params.name} has been running`, progressMs);
  try {
    return await host.inOrder(async () => {
      // cancelled while it waited, so this result is never read
      if (signal.aborted) return { content: [], isError: true };
      const call = bounded({ ...called, name: (await host.names()).idOf(called.name) }, waitSeconds);
      const part = host.longAnswers.asked(call);
      if (part !== null) return callResult(await session.call({ ...call, answer: part }), null);
      const asked = (await ruledByUser(host, server, call, ctx)) ?? (await approvalFor(host, server, call, ctx));
      if ('question' in asked) return asked.question;
      const answer = await inTrace(params._meta ?? {}, () => session.call({ ...call, ...asked }));
      // A hop with a change of mode may need two approvals: the person is asked one after the other.
      const next = asked.approved && isUnapproved(answer) ? await approvalFor(host, server, call, ctx) : {};
      if ('question' in next) return next.question;
      const { count } = peer.relisting;
      const open = await host.tellChanges();
      if (open !== null) await peer.relisting.since(count, relistMs, GRACE, signal, () => host.tellTools());
      return callResult(answer, open, host.longAnswers.firstPart(answer));
    });
  } finally {
    stop();
  }
}

/**
 * A whistle that does not wait longer than its client does: the answer then has the id of the job. Other calls stay as
 * they are, since the hooks of a client report them with the same arguments.
 */
function bounded(call: AgentCall, most: number): AgentCall {
  const { name, input } = call;
  if (name !== 'whistle' || !isObject(input)) return call;
  const { seconds } = input;
  return typeof seconds === 'number' && seconds > most ? { ...call, input: { ...input, seconds: most } } : call;
}

type Approval = { readonly question: InputRequiredResult } | Pick<AgentCall, 'approved' | 'refused'>;

/** Applies the user's own rules to a call. null if no rule is against it, or the person has said yes. */
async function ruledByUser(
  { questions, options }: McpHost,
  server: Server,
  call: AgentCall,
  ctx: ServerContext,
): Promise<Approval | null> {
  const ruling = await options.userRules?.(call);
  if (!ruling || !(await options.session.status()).available.tools.includes(call.name)) return null;
  const { decision, why, command } = ruling;
  if (decision === 'forbidden') return { refused: `The user's own rules for commands refuse this: ${why}` };
  if (options.elicit === false || !canAsk(clientOf(server, ctx).capabilities))
    return {
      refused: `The user's own rules require a person's answer to this command, and nobody can be asked here: ${why}`,
    };
  const { said } = questions.take(call, ctx);
  if (said === 'yes') return null;
  if (said === 'no' || said === 'dismissed') return { refused: 'The person who was asked refused this command.' };
  if (said === 'unticked-again')
    return { refused: `The person who was asked did not allow this command: ${UNTICKED_AGAIN}.` };
  return { question: questions.put(call, commandQuestion(command, why, said === 'unticked'), '', said === 'unticked') };
}

/** The approval of the person at the client, or the question to ask them. */
async function approvalFor(host: McpHost, server: Server, call: AgentCall, ctx: ServerContext): Promise<Approval> {
  const { questions, options } = host;
  const { said, hash, limits } = questions.take(call, ctx);
  const { capabilities, info } = clientOf(server, ctx);
  if (options.elicit === false || !canAsk(capabilities)) return {};
  const wanted = await options.session.wants(call);
  if (wanted === null || (await options.answeredAhead?.(wanted))) return {};
  if (said === 'dismissed') return {};
  if (said === 'no' || said === 'unticked-again') {
    await options.answered?.(hash);
    return { approved: said === 'no' ? null : { because: UNTICKED_AGAIN } };
  }
  const isSame = hash === wanted.hash;
  const grant = said === 'yes' && isSame && limits !== undefined ? options.grantIn?.(limits, wanted) : undefined;
  const problem = grant && 'problem' in grant ? grant : null;
  if (said === 'yes' && isSame && problem === null) {
    await options.answered?.(hash);
    const granted = grant && !('problem' in grant) ? { grant } : {};
    return { approved: { hash, by: personAt(info?.name), ...granted } };
  }
  const [diff = null, readBy = null] = await Promise.all([options.diff?.(wanted), options.readBy?.(wanted)]);
  const again = problem ?? (said === 'unasked' ? null : isSame ? 'unticked' : 'changed');
  const asked = { diff, readBy, again } as const;
  return { question: questions.ask(call, wanted, asked, options.grantIn !== undefined) };
}

/** The client's own information, from the request or from its connection. */
function clientOf(
  server: Server,
  { mcpReq }: ServerContext,
): { readonly capabilities: ClientCapabilities | undefined; readonly info: Implementation | undefined } {
  const envelope = mcpReq.envelope as { readonly [key: string]: unknown } | undefined;
  return {
    capabilities: (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities) ?? server.getClientCapabilities(),
    info: (envelope?.[CLIENT_INFO_META_KEY] as Implementation) ?? server.getClientVersion(),
  };
}

/** True if the client can show a form. An empty `elicitation: {}` means forms, the only kind in older protocols. */
const canAsk = (capabilities: ClientCapabilities | undefined): boolean => {
  const kinds = capabilities?.elicitation;
  return kinds !== undefined && (kinds.form !== undefined || kinds.url === undefined);
};
