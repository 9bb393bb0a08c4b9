import type { CallToolResult } from '@modelcontextprotocol/server';
import { errorText } from '../../../base/text.ts';
import type { McpOptions } from '../mcp-options.ts';
import type { McpReading } from '../mcp-reading.ts';

const MAX_KEPT_MS = 24 * 3_600_000;
/** Milliseconds for which the result of a task is kept after its deadline. */
const KEPT_MS = 600_000;
/** Maximum number of kept tasks. Above it, the oldest ended tasks are dropped. */
const MAX_TASKS = 256;

/** A whistle whose answer the client polls for. The task's id is the id of the whistle's message. */
export interface McpTask {
  readonly id: string;
  readonly status: 'working' | 'completed' | 'cancelled' | 'failed';
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly changedAt: string;
  /** Milliseconds from `createdAt` after which the task may be forgotten. */
  readonly ttlMs: number;
  /** The result of the call; null before the end, and for a cancelled or failed task. */
  readonly result: CallToolResult | null;
  readonly error: string | null;
}

export interface EndedTask {
  readonly result: CallToolResult;
  /** True if the whistle's recipient answered in time. */
  readonly answered: boolean;
}

interface Running {
  task: McpTask;
  readonly settled: Promise<McpTask>;
  readonly abort: () => void;
  cancelled: boolean;
}

/** The tasks of a session: whistles whose clients poll for the answer instead of waiting for it. */
export class McpTasks {
  readonly #running = new Map<string, Running>();
  readonly #changed: (task: McpTask) => void;
  readonly #reading: McpReading | undefined;
  readonly #sender: string;

  /** @param changed called when a task has ended */
  constructor({ reading, session }: Pick<McpOptions, 'reading' | 'session'>, changed: (task: McpTask) => void) {
    this.#reading = reading;
    this.#sender = `session:${session.id}`;
    this.#changed = changed;
  }

  /**
   * Adds a task.
   * @param seconds the deadline of the whistle
   * @param requestedTtl how long the client wants the result to be kept, in milliseconds from now
   * @param abort ends the wait
   */
  begin(id: string, seconds: number, requestedTtl: number, ended: Promise<EndedTask>, abort: () => void): McpTask {
    const createdAt = new Date().toISOString();
    const ttlMs = Math.max(seconds * 1000 + KEPT_MS, Math.min(requestedTtl, MAX_KEPT_MS));
    const task: McpTask = { id, status: 'working', createdAt, changedAt: createdAt, ttlMs, result: null, error: null };
    const settled = ended.then(
      ({ result, answered }) =>
        running.cancelled && !answered
          ? this.#end(running, { status: 'cancelled' })
          : this.#end(running, { status: 'completed', result }),
      (error) => this.#end(running, { status: 'failed', error: errorText(error) }),
    );
    const running: Running = { task, settled, abort, cancelled: false };
    this.#running.set(id, running);
    this.#forget();
    return task;
  }

  /** The task with this id; null if there is none, or if it was dropped. */
  async find(id: string): Promise<McpTask | null> {
    this.#forget();
    return this.#running.get(id)?.task ?? this.#storedTask(id);
  }

  /** Waits for a task to end, and returns it; null as in {@link find}. */
  async ended(id: string): Promise<McpTask | null> {
    this.#forget();
    return this.#running.get(id)?.settled ?? this.#storedTask(id);
  }

  /** Cancels a task and returns it. If the answer came first, the task stays completed; a later answer is a message. */
  async cancel(id: string): Promise<McpTask | null> {
    const running = this.#running.get(id);
    if (!running) return this.find(id);
    running.cancelled ||= running.task.status === 'working';
    running.abort();
    return running.settled;
  }

  /** Ends the waits of all tasks. */
  close(): void {
    for (const { abort } of this.#running.values()) abort();
  }

  #end(running: Running, end: Partial<McpTask>): McpTask {
    running.task = { ...running.task, ...end, changedAt: new Date().toISOString() };
    this.#changed(running.task);
    return running.task;
  }

  /** The task of a whistle that an earlier process of this server sent. No call waits for its answer any more. */
  async #storedTask(id: string): Promise<McpTask | null> {
    const found = await this.#reading?.message(id);
    if (!found) return null;
    const { kind, from, sentAt } = found.message;
    const { answer } = found;
    const ttlMs = KEPT_MS;
    if (kind !== 'whistle' || from !== this.#sender || isOver(sentAt, ttlMs)) return null;
    const note = answer ? 'The answer arrived as a message.' : 'The answer will arrive as a message.';
    const result = { message: id, job: id, status: answer ? 'answered' : 'waiting', note };
    return {
      id,
      status: 'completed',
      createdAt: sentAt,
      changedAt: answer?.sentAt ?? sentAt,
      ttlMs,
      error: null,
      result: { content: [{ type: 'text', text: JSON.stringify(result) }] },
    };
  }

  #forget(): void {
    const done = [...this.#running].filter(([, { task }]) => task.status !== 'working');
    const surplus = this.#running.size - MAX_TASKS;
    for (const [index, [id, { task }]] of done.entries())
      if (index < surplus || isOver(task.createdAt, task.ttlMs)) this.#running.delete(id);
  }
}

const isOver = (createdAt: string, ttlMs: number): boolean => Date.now() > Date.parse(createdAt) + ttlMs;
