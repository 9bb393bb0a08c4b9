import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  CallToolRequest,
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import { fieldsOf, isObject } from '../../base/json.ts';
import { excerpt } from '../../base/text.ts';
import { AGENCY_TOOL_ID } from '../../spec/policy/tool-ids.ts';
import { isOnlyApprovalMissing } from '../core/advise-repeat.ts';
import type { AgentAnswer, AgentCall } from '../core/agent-session.ts';
import { renderCommandQuestion } from '../core/approval-question.ts';
import { FORM_WITHOUT_YES_REASON } from './approval-questions.ts';
import { toMcpCallResult } from './call-result.ts';
import { clientOfRequest } from './connected-client.ts';
import type { McpHost, ServedClient } from './mcp-host.ts';
import type { EndedTask } from './tasks/mcp-tasks.ts';
import { requestedTaskForm, TASK_TOOL_NAME, throwTaskError, toTaskResult } from './tasks/task-protocol.ts';

/** Milliseconds for a client to process a list of tools that it has just received. */
const LIST_GRACE_MS = 30;

/** Polling interval until a whistle is in the store, in milliseconds. */
const WHISTLE_POLL_MS = 10;

/** Carries out one `tools/call`, in order; asks a person if needed. A client that polls gets a task for a whistle. */
export async function answerToolCall(
  host: McpHost,
  server: Server,
  servedClient: ServedClient,
  request: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { params } = request;
  const { session, progressMs = 5000, relistMs = 500, waitSeconds = 45, inTrace = (_, work) => work() } = host.options;
  const taskForm = requestedTaskForm(server, request, ctx);
  const call = new AbortController();
  const { signal } = call;
  const cancel = (): void => call.abort();
  if (ctx.mcpReq.signal.aborted) cancel();
  ctx.mcpReq.signal.addEventListener('abort', cancel, { once: true });
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
  const finish = async (answer: AgentAnswer): Promise<CallToolResult> => {
    const { count } = servedClient.relisting;
    const open = await host.notifyOfChanges();
    if (open !== null)
      await servedClient.relisting.waitForList(count, relistMs, LIST_GRACE_MS, signal, () => host.notifyOfTools());
    return toMcpCallResult(answer, open, host.longAnswers.firstPart(answer));
  };
  const begun = Promise.withResolvers<CallToolResult>();
  const stop = reportProgress(ctx, `${params.name} has been running`, progressMs);
  const done = host.inOrder<CallToolResult | InputRequiredResult>(async () => {
    // The call was cancelled while it waited: nobody reads this result.
    if (signal.aborted) return { content: [], isError: true };
    const named = { ...called, name: (await host.names()).idOf(called.name) };
    const isTask = taskForm !== null && named.name === TASK_TOOL_NAME;
    if (taskForm === '2025' && !isTask) throwTaskError(params.name);
    const call = isTask ? named : limitWait(named, waitSeconds);
    const part = host.longAnswers.requestedPart(call);
    if (part !== null) return toMcpCallResult(await session.call({ ...call, answer: part }), null);
    const approval = (await applyUserRules(host, server, call, ctx)) ?? (await approvalFor(host, server, call, ctx));
    if ('question' in approval) return approval.question;
    if (isTask) {
      const sent = { ...call, ...approval, messageId: `m-${randomUUID()}`, messages: false };
      const ended = inTrace(params._meta ?? {}, () => session.call(sent)).then(async (answer) => ({
        result: await finish(answer),
        answered: fieldsOf(answer.data)['status'] === 'answered',
      }));
      if (taskForm === '2025' || (await isSent(host, sent.messageId, ended))) {
        ctx.mcpReq.signal.removeEventListener('abort', cancel);
        const { seconds } = fieldsOf(call.input);
        const deadline = typeof seconds === 'number' ? seconds : waitSeconds;
        const task = host.tasks.begin(sent.messageId, deadline, request.params.task?.ttl ?? 0, ended, cancel);
        begun.resolve(toTaskResult(task, taskForm));
      }
      return (await ended).result;
    }
    const answer = await inTrace(params._meta ?? {}, () => session.call({ ...call, ...approval }));
    // A hop with a mode change may need two approvals; the person is asked for one after the other.
    const next = approval.approved && isOnlyApprovalMissing(answer) ? await approvalFor(host, server, call, ctx) : {};
    if ('question' in next) return next.question;
    return finish(answer);
  });
  try {
    return await Promise.race([done, begun.promise]);
  } finally {
    stop();
  }
}

/** True once a whistle is in the store; false if its call ended before, because it was refused or answered first. */
async function isSent({ options: { reading } }: McpHost, id: string, ended: Promise<EndedTask>): Promise<boolean> {
  if (!reading) return true;
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  void ended.then(over, over);
  while (!isOver) {
    if (await reading.message(id)) return true;
    await sleep(WHISTLE_POLL_MS);
  }
  return false;
}

/**
 * Limits the wait of a whistle or a run to the time that its client waits; the answer then has the id of the job. Other
 * calls are returned unchanged, because a client's hooks report them with the same arguments.
 */
function limitWait(call: AgentCall, most: number): AgentCall {
  const { name, input } = call;
  if ((name !== 'whistle' && name !== AGENCY_TOOL_ID) || !isObject(input)) return call;
  const { seconds } = input;
  return typeof seconds === 'number' && seconds > most ? { ...call, input: { ...input, seconds: most } } : call;
}

type Approval = { readonly question: InputRequiredResult } | Pick<AgentCall, 'approved' | 'refused'>;

/** Applies the user's own rules to a call. null if no rule forbids it, or the person has said yes. */
async function applyUserRules(
  { questions, options }: McpHost,
  server: Server,
  call: AgentCall,
  ctx: ServerContext,
): Promise<Approval | null> {
  const ruling = await options.userRules?.(call);
  if (!ruling || !(await options.session.status()).available.tools.includes(call.name)) return null;
  const { decision, why, command } = ruling;
  if (decision === 'forbidden') return { refused: `The user's own rules for commands refuse this command: ${why}` };
  if (options.elicit === false || !canAsk(clientOfRequest(server, ctx).capabilities))
    return {
      refused: `The user's own rules require a person's answer to this command, and nobody can be asked here: ${why}`,
    };
  const { answer } = questions.take(call, ctx);
  if (answer === 'yes') return null;
  if (answer === 'no' || answer === 'dismissed') return { refused: 'The person who was asked refused this command.' };
  if (answer === 'unticked-again')
    return { refused: `The person who was asked did not allow this command: ${FORM_WITHOUT_YES_REASON}.` };
  return {
    question: questions.askYes(
      call,
      renderCommandQuestion(command, why, answer === 'unticked'),
      '',
      answer === 'unticked',
    ),
  };
}

/** The approval of the person at the client, or the question to ask them. */
async function approvalFor(host: McpHost, server: Server, call: AgentCall, ctx: ServerContext): Promise<Approval> {
  const { questions, options } = host;
  const { answer, hash, limits } = questions.take(call, ctx);
  const { capabilities, info } = clientOfRequest(server, ctx);
  if (options.elicit === false || !canAsk(capabilities)) return {};
  const request = await options.session.wants(call);
  if (request === null || (await options.answeredAhead?.(request))) return {};
  if (answer === 'dismissed') return {};
  if (answer === 'no' || answer === 'unticked-again') {
    await options.answered?.(hash);
    return { approved: answer === 'no' ? null : { because: FORM_WITHOUT_YES_REASON } };
  }
  const isSame = hash === request.hash;
  const grant = answer === 'yes' && isSame && limits !== undefined ? options.grantIn?.(limits, request) : undefined;
  const problem = grant && 'problem' in grant ? grant : null;
  if (answer === 'yes' && isSame && problem === null) {
    await options.answered?.(hash);
    const granted = grant && !('problem' in grant) ? { grant } : {};
    const by = info ? `operator at ${excerpt(info.name, 60)}` : 'operator';
    return { approved: { hash, by, ...granted } };
  }
  const [diff = null, readBy = null] = await Promise.all([options.diff?.(request), options.readBy?.(request)]);
  const again = problem ?? (answer === 'unasked' ? null : isSame ? 'unticked' : 'changed');
  const questionOptions = { diff, readBy, again } as const;
  return { question: questions.askApproval(call, request, questionOptions, options.grantIn !== undefined) };
}

/** True if the client can show a form. An empty `elicitation: {}` means forms, the only kind in older protocols. */
const canAsk = (capabilities: ClientCapabilities | undefined): boolean => {
  const kinds = capabilities?.elicitation;
  return kinds !== undefined && (kinds.form !== undefined || kinds.url === undefined);
};

/** Notifies the client every `every` ms that its call runs, if the client requested that. Returns a stop function. */
function reportProgress({ mcpReq }: ServerContext, what: string, every: number): () => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined || every <= 0 || mcpReq.signal.aborted) return () => {};
  const since = Date.now();
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    const seconds = Math.round((Date.now() - since) / 1000);
    const params = { progressToken, progress: count, message: `${what} for ${seconds} s` };
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => stop());
  }, every);
  const stop = (): void => clearInterval(timer);
  mcpReq.signal.addEventListener('abort', stop, { once: true });
  return stop;
}
