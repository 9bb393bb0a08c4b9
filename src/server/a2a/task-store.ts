import { join } from 'node:path';
import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import type { AgencyNode } from '../../agency/node.ts';
import { type Env, stateHome } from '../../base/state-home.ts';
import { type Database, nodeSqlite } from '../../stores/node-sqlite.ts';
import { runKey, type WorkingTasks, withReply } from './run-executor.ts';
import type { A2aSdk } from './sdk.ts';

/** How long a task is kept, in milliseconds: as long as the reply of its run. */
const KEEP_MS = 7 * 86_400_000;

/**
 * Keeps the tasks of A2A clients on disk, with the journal of runs. The journal decides: a task whose process ended
 * takes the reply of its run, or fails with `run-interrupted`.
 */
export class RunTaskStore implements TaskStore {
  readonly #db: Database;
  readonly #tasks: TaskStore;
  readonly #sdk: A2aSdk;
  readonly #agency: AgencyNode;
  readonly #working: WorkingTasks;
  #ready: Promise<void> | null = null;

  constructor(env: Env, agency: AgencyNode, working: WorkingTasks, sdk: A2aSdk) {
    this.#db = new (nodeSqlite().DatabaseSync)(join(stateHome(env), 'agency.db'), { timeout: 5_000 });
    this.#db.exec(
      'CREATE TABLE IF NOT EXISTS a2a_tasks (owner TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, task TEXT NOT NULL, PRIMARY KEY (owner, id)) STRICT',
    );
    this.#tasks = new sdk.InMemoryTaskStore();
    this.#sdk = sdk;
    this.#agency = agency;
    this.#working = working;
  }

  async save(task: Task, context: ServerCallContext): Promise<void> {
    await this.#read();
    // A closed store keeps nothing: the next server reads the end of the task from the journal of runs.
    if (!this.#db.isOpen) return;
    this.#db
      .prepare('INSERT OR REPLACE INTO a2a_tasks (owner, id, at, task) VALUES (?, ?, ?, ?)')
      .run(context.user?.userName ?? '', task.id, Date.now(), JSON.stringify(this.#sdk.Task.toJSON(task)));
    await this.#tasks.save(task, context);
    if (!this.#isOpen(task)) this.#working.delete(task.id);
  }

  async load(id: string, context: ServerCallContext): Promise<Task | undefined> {
    await this.#read();
    const task = await this.#tasks.load(id, context);
    return task && this.#settled(task, context);
  }

  async list(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    await this.#read();
    return this.#tasks.list(request, context);
  }

  close(): void {
    this.#db.close();
  }

  /** Reads the kept tasks, once. */
  #read(): Promise<void> {
    this.#ready ??= (async () => {
      const { ServerCallContext, Task } = this.#sdk;
      this.#db.prepare('DELETE FROM a2a_tasks WHERE at < ?').run(Date.now() - KEEP_MS);
      for (const { owner, task } of this.#db.prepare('SELECT owner, task FROM a2a_tasks').iterate()) {
        const context = new ServerCallContext({ user: { isAuthenticated: true, userName: String(owner) } });
        const read = Task.fromJSON(JSON.parse(String(task)));
        await this.#tasks.save(await this.#settled(read, context), context);
      }
    })();
    return this.#ready;
  }

  /** A task as its run ended, if the process that reported it is gone. */
  async #settled(task: Task, context: ServerCallContext): Promise<Task> {
    if (!this.#isOpen(task) || this.#working.has(task.id)) return task;
    const reply = await this.#agency.replyTo(runKey(task.history[0]?.messageId ?? '', context));
    return reply === null ? task : withReply(this.#sdk, task, reply);
  }

  #isOpen({ status }: Task): boolean {
    const { TASK_STATE_SUBMITTED, TASK_STATE_WORKING } = this.#sdk.TaskState;
    return status?.state === TASK_STATE_SUBMITTED || status?.state === TASK_STATE_WORKING;
  }
}
