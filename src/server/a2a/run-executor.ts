import { hash } from 'node:crypto';
import type { Message, Part, Task, TaskStatus } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext, ServerCallContext } from '@a2a-js/sdk/server';
import type { AgencyNode } from '../../agency/agency-node.ts';
import { REFUSED_RUN_CODES, RunFailure, type RunReply, runReplyOf } from '../../agency/run-reply.ts';
import { RunRequest } from '../../agency/run-request.ts';
import { fieldsOf, isObject, type Json } from '../../base/json.ts';
import { type A2aSdk, AGENT_CONTEXT_KEY } from './load-a2a-sdk.ts';

/** The idempotency keys of the runs of this process, by task id. A task is removed when its end is stored. */
export type RunKeyByTask = Map<string, string>;

export class RunExecutor implements AgentExecutor {
  readonly #agency: AgencyNode;
  readonly #sdk: A2aSdk;
  readonly #working: RunKeyByTask;

  constructor(agency: AgencyNode, working: RunKeyByTask, sdk: A2aSdk) {
    this.#agency = agency;
    this.#working = working;
    this.#sdk = sdk;
  }

  async execute({ taskId, contextId, userMessage, context }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { AgentEvent, TaskState } = this.#sdk;
    const key = runKeyOfMessage(userMessage.messageId, context);
    const status = (state: TaskStatus['state']): TaskStatus => ({ state, message: undefined, timestamp: now() });
    this.#working.set(taskId, key);
    try {
      const task = { id: taskId, contextId, artifacts: [], metadata: undefined };
      bus.publish(AgentEvent.task({ ...task, status: status(TaskState.TASK_STATE_SUBMITTED), history: [userMessage] }));
      const working = status(TaskState.TASK_STATE_WORKING);
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: working, metadata: undefined }));
      const agent = context.state.get(AGENT_CONTEXT_KEY) as string | undefined;
      const reply = await runReplyOf(agent ?? '', async () => this.#requestOf(userMessage, agent)).then((read) =>
        read.ok ? this.#agency.run(read.response as RunRequest, { key, budgetMs: null, via: [] }) : read,
      );
      const done = addReplyToTask(this.#sdk, { ...task, status: working, history: [] }, reply);
      const whole = { taskId, contextId, append: false, lastChunk: true, metadata: undefined };
      for (const artifact of done.artifacts) bus.publish(AgentEvent.artifactUpdate({ ...whole, artifact }));
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: done.status, metadata: undefined }));
    } finally {
      bus.finished();
    }
  }

  /** Cancels the run of a task. The run's reply then gives the task the state `canceled`. */
  cancelTask = async (task: string): Promise<void> => {
    const key = this.#working.get(task);
    if (key !== undefined) this.#agency.cancel(key);
  };

  /** The run that a message asks for. @throws RunFailure */
  #requestOf({ metadata, parts }: Message, routed: string | undefined): Json {
    const { agents, peripherals } = this.#agency.spec();
    const stated = fieldsOf(metadata);
    const chosen = (name: string, value: unknown, choices: readonly string[]): unknown => {
      if (value !== undefined || choices.length === 1) return value ?? choices[0];
      throw new RunFailure(
        'invalid-request',
        `the message names no ${name}`,
        `Set metadata["${name}"] of the message to one of: ${choices.join(', ') || 'none is configured'}.`,
      );
    };
    const text = parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));
    const data = parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value as unknown] : []));
    if (text.length + data.length < parts.length || !data.every(isObject))
      throw new RunFailure(
        'invalid-request',
        'the message has a part that is neither text nor an object of inputs',
        'Send text parts for the prompt, and data parts with the inputs.',
      );
    const request = RunRequest.safeParse({
      'agent-id': routed ?? chosen('agent-id', stated['agent-id'], Object.keys(agents)),
      peripheral: chosen('peripheral', stated['peripheral'], Object.keys(peripherals)),
      ...(data.length === 0 ? {} : { inputs: Object.assign({}, ...data) as Json }),
      ...(text.length === 0 ? {} : { prompt: text.join('\n') }),
    });
    if (request.success) return request.data as Json;
    const { path, message } = request.error.issues[0]!;
    throw new RunFailure('invalid-request', `${path.join('.')}: ${message}`, 'Correct the message.');
  }
}

/** A task with the outcome of its run: an artifact with the response, or the failure as a message. */
export function addReplyToTask({ Role, TaskState }: A2aSdk, task: Task, reply: RunReply): Task {
  const part = (content: Part['content']): Part => ({ content, metadata: undefined, filename: '', mediaType: '' });
  const ended = (state: TaskStatus['state'], message?: Message): Task => ({
    ...task,
    status: { state, message, timestamp: now() },
  });
  if (reply.ok) {
    const { response } = reply;
    const content: Part['content'] =
      typeof response === 'string' ? { $case: 'text', value: response } : { $case: 'data', value: response };
    const about = { name: 'response', description: '', metadata: { ...reply.meta }, extensions: [] };
    return {
      ...ended(TaskState.TASK_STATE_COMPLETED),
      artifacts: [{ artifactId: 'response', parts: [part(content)], ...about }],
    };
  }
  const { code, message, remedy } = reply.error;
  const { TASK_STATE_CANCELED, TASK_STATE_REJECTED, TASK_STATE_FAILED } = TaskState;
  const state =
    code === 'cancelled' ? TASK_STATE_CANCELED : REFUSED_RUN_CODES.has(code) ? TASK_STATE_REJECTED : TASK_STATE_FAILED;
  return ended(state, {
    messageId: `${task.id}-${code}`,
    contextId: task.contextId,
    taskId: task.id,
    role: Role.ROLE_AGENT,
    parts: [part({ $case: 'text', value: `${code}: ${message} ${remedy}` })],
    metadata: { code },
    extensions: [],
    referenceTaskIds: [],
  });
}

/** The idempotency key of a message's run, so that a repeated message does not start the agent again. */
export const runKeyOfMessage = (messageId: string, context: ServerCallContext): string =>
  `a2a.${hash('sha256', JSON.stringify([context.user?.userName ?? '', messageId])).slice(0, 40)}`;

const now = (): string => new Date().toISOString();
