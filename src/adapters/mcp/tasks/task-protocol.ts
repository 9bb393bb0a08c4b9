import {
  type CallToolRequest,
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Result,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { clientOfRequest } from '../connected-client.ts';
import type { McpTask, McpTasks } from './mcp-tasks.ts';

/** Id of MCP's tasks extension (protocol version 2026-07-28). */
const EXTENSION = 'io.modelcontextprotocol/tasks';
/** The tool whose calls can be tasks. */
export const TASK_TOOL_NAME = 'whistle';
/** The polling interval for a task that hopgate suggests to clients, in milliseconds. */
const POLL_MS = 250;

/**
 * The version of MCP whose tasks a client uses. Tasks are a part of MCP in 2025-11-25, and an extension of it since
 * 2026-07-28.
 */
type TaskForm = '2025' | '2026';

export const TASK_CAPABILITIES: ServerCapabilities = {
  tasks: { cancel: {}, requests: { tools: { call: {} } } },
  extensions: { [EXTENSION]: {} },
};

const formOf = (server: Server): TaskForm =>
  server.getNegotiatedProtocolVersion()?.startsWith('2026') ? '2026' : '2025';

const declaresTasks = (server: Server, ctx: ServerContext): boolean =>
  clientOfRequest(server, ctx).capabilities?.extensions?.[EXTENSION] !== undefined;

/**
 * The form of task with which a call is answered; null if its client requests no task. Since 2026-07-28 a client
 * declares that it can poll; in 2025-11-25 it requests a task in the call.
 */
export function requestedTaskForm(server: Server, { params }: CallToolRequest, ctx: ServerContext): TaskForm | null {
  const form = formOf(server);
  if (form === '2026') return declaresTasks(server, ctx) ? form : null;
  return params.task === undefined ? null : form;
}

/** @throws ProtocolError of 2025-11-25 if the client requests a task for a tool whose calls cannot be tasks */
export function throwTaskError(name: string): never {
  throw new ProtocolError(
    ProtocolErrorCode.MethodNotFound,
    `a call of ${name} cannot be a task; only a call of ${TASK_TOOL_NAME} can`,
  );
}

/** The task answers of {@link ServerWithTasks}, keyed by the empty results that they replace. */
const CREATED = new WeakMap<object, Result>();

/** The result of a call that has become a task, for a handler of {@link ServerWithTasks}. */
export function toTaskResult(task: McpTask, form: TaskForm): CallToolResult {
  const result: CallToolResult = { content: [] };
  CREATED.set(result, form === '2026' ? { resultType: 'task', ...fields2026(task) } : { task: fields2025(task) });
  return result;
}

/** A server that may answer `tools/call` with a task, which the SDK's own check of results would reject. */
export class ServerWithTasks extends Server {
  protected override _wrapHandler(
    method: string,
    handler: Parameters<Server['_wrapHandler']>[1],
  ): ReturnType<Server['_wrapHandler']> {
    if (method !== 'tools/call') return super._wrapHandler(method, handler);
    return async (request, ctx) => {
      let created: Result | undefined;
      const checked = super._wrapHandler(method, async (call, context) => {
        const result = await handler(call, context);
        created = CREATED.get(result);
        return result;
      });
      const result = await checked(request, ctx);
      return created ?? result;
    };
  }
}

const Params = z.looseObject({ taskId: z.string() });

/** Serves `tasks/…` in both forms. Returns the function that notifies a client of 2025-11-25 of a change. */
export function serveTasks(server: Server, tasks: McpTasks): (task: McpTask) => void {
  const on = (
    method: string,
    forms: readonly TaskForm[],
    answer: (id: string, form: TaskForm) => Promise<Result>,
  ): void =>
    server.setRequestHandler(method, { params: Params }, async ({ taskId }, ctx) => {
      const form = formOf(server);
      if (!forms.includes(form)) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
      if (form === '2026' && !declaresTasks(server, ctx))
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [EXTENSION]: {} } } });
      return answer(taskId, form);
    });
  on('tasks/get', ['2025', '2026'], async (id, form) => {
    const task = requireTask(await tasks.find(id), id);
    return form === '2026' ? taskWithResult(task) : fields2025(task);
  });
  on('tasks/update', ['2026'], async (id) => {
    requireTask(await tasks.find(id), id);
    return {};
  });
  on('tasks/cancel', ['2025', '2026'], async (id, form) => {
    const before = requireTask(await tasks.find(id), id).status;
    const task = requireTask(await tasks.cancel(id), id);
    if (form === '2026') return {};
    if (before === 'working' && task.status === 'cancelled') return fields2025(task);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `the task ${id} has ended already: ${task.status}`);
  });
  on('tasks/result', ['2025'], async (id) => {
    const { status, result, error } = requireTask(await tasks.ended(id), id);
    if (status === 'failed') throw new ProtocolError(ProtocolErrorCode.InternalError, error ?? 'the call failed');
    if (result === null)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `the task ${id} was cancelled; a late answer arrives as a message`,
      );
    return { ...result, _meta: { ...result._meta, [RELATED_TASK_META_KEY]: { taskId: id } } };
  });
  return (task) => {
    if (formOf(server) === '2025')
      void server
        .notification({ method: 'notifications/tasks/status', params: fields2025(task) })
        .catch((error) => server.onerror?.(error));
  };
}

function requireTask(task: McpTask | null, id: string): McpTask {
  if (task) return task;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no task "${id}", or its result is no longer kept`);
}

const fields2026 = (task: McpTask) => ({
  taskId: task.id,
  status: task.status,
  ...messageOf(task),
  createdAt: task.createdAt,
  lastUpdatedAt: task.changedAt,
  ttlMs: task.ttlMs,
  pollIntervalMs: POLL_MS,
});

/** A task with its result or its error, as `tasks/get` answers since 2026-07-28. */
const taskWithResult = (task: McpTask): Result => ({
  ...fields2026(task),
  ...(task.status === 'completed' ? { result: { resultType: 'complete', ...task.result } } : {}),
  ...(task.status === 'failed' ? { error: { code: ProtocolErrorCode.InternalError, message: task.error } } : {}),
});

const fields2025 = (task: McpTask) => ({
  taskId: task.id,
  // In 2025-11-25 a call of a tool that ends with an error is a failed task, with a result.
  status: task.result?.isError ? ('failed' as const) : task.status,
  ...messageOf(task),
  createdAt: task.createdAt,
  lastUpdatedAt: task.changedAt,
  ttl: task.ttlMs,
  pollInterval: POLL_MS,
});

function messageOf({ status, result, error }: McpTask): { readonly statusMessage?: string } {
  if (status === 'working') return { statusMessage: 'The recipient has the message; no answer yet.' };
  if (status === 'cancelled') return { statusMessage: 'The wait was cancelled; a late answer arrives as a message.' };
  if (error !== null) return { statusMessage: error };
  const [first] = result?.isError ? result.content : [];
  return first?.type === 'text' ? { statusMessage: first.text } : {};
}
