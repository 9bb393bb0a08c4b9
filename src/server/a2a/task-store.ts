import { isDeepStrictEqual } from 'node:util';
import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import type { ServerCallContext, TaskStore } from '@a2a-js/sdk/server';
import type { AgencyNode } from '../../agency/agency-node.ts';
import { type Fields, fieldsOf, type Json, textOf } from '../../base/json.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import { appendDrafts } from '../../session/append-drafts.ts';
import type { A2aSdk } from './load-a2a-sdk.ts';
import { addReplyToTask, type RunKeyByTask, runKeyOfMessage } from './run-executor.ts';

/** How long a task is listed, in milliseconds; the reply of its run is kept as long. Its evidence is never deleted. */
const KEEP_MS = 7 * 86_400_000;
const TAG = 'a2a-task';

/**
 * Stores the tasks of A2A clients in the node's evidence: one session per task, one entry per change. If the process of
 * a task is gone, the journal of runs decides its end: the reply of its run, or the failure `run-interrupted`.
 */
export class RunTaskStore implements TaskStore {
  readonly #evidence: EvidenceStore;
  /** The tasks in memory, as the evidence records them. */
  readonly #tasks: TaskStore;
  /** The last recorded form of each open task, by id. */
  readonly #recorded = new Map<string, Fields>();
  readonly #sdk: A2aSdk;
  readonly #agency: AgencyNode;
  readonly #working: RunKeyByTask;
  #ready: Promise<void> | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(evidence: EvidenceStore, agency: AgencyNode, working: RunKeyByTask, sdk: A2aSdk) {
    this.#evidence = evidence;
    this.#tasks = new sdk.InMemoryTaskStore();
    this.#sdk = sdk;
    this.#agency = agency;
    this.#working = working;
  }

  async save(task: Task, context: ServerCallContext): Promise<void> {
    await this.#read();
    // A closed store records nothing. The next server reads the end of the task from the journal of runs.
    if (this.#isClosed) return;
    const written = this.#writing.then(() => this.#record(task, context.user?.userName ?? ''));
    this.#writing = written.catch(() => {});
    await written;
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

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await this.#evidence.close();
  }

  /** Appends the fields of a task that have changed. */
  async #record(task: Task, owner: string): Promise<void> {
    const { id } = task;
    const now = fieldsOf(this.#sdk.Task.toJSON(task) as Json);
    const before = this.#recorded.get(id) ?? {};
    const changed = Object.entries(now).filter(([field, value]) => !isDeepStrictEqual(before[field], value));
    if (changed.length === 0) return;
    const body = { 'event/type': 'a2a/task', owner, task: Object.fromEntries(changed) };
    const draft = { type: 'coordination', claim: 'step', author: 'a2a', body, sessionId: id, tags: [TAG] } as const;
    await appendDrafts(this.#evidence, id, [draft], { holder: 'a2a' });
    if (this.#isOpen(task)) this.#recorded.set(id, now);
    else this.#recorded.delete(id);
  }

  /** Reads the tasks of the last {@link KEEP_MS}, once. */
  #read(): Promise<void> {
    this.#ready ??= (async () => {
      const { ServerCallContext, Task } = this.#sdk;
      for (const { sessionId, lastAt } of await this.#evidence.sessions()) {
        if (Date.parse(lastAt) < Date.now() - KEEP_MS) continue;
        let task: Fields = {};
        let owner = '';
        for await (const { entry } of this.#evidence.entries(sessionId)) {
          if (!entry.tags.includes(TAG)) continue;
          const body = fieldsOf(entry.body);
          owner = textOf(body['owner']) ?? owner;
          task = { ...task, ...fieldsOf(body['task']) };
        }
        if (task['id'] === undefined) continue;
        const context = new ServerCallContext({ user: { isAuthenticated: true, userName: owner } });
        const known = Task.fromJSON(task);
        const settled = await this.#settled(known, context);
        if (settled !== known) {
          this.#recorded.set(sessionId, task);
          await this.#record(settled, owner);
        }
        await this.#tasks.save(settled, context);
      }
    })();
    return this.#ready;
  }

  /** The task, ended by the reply of its run if no process of this server works on it. */
  async #settled(task: Task, context: ServerCallContext): Promise<Task> {
    if (!this.#isOpen(task) || this.#working.has(task.id)) return task;
    const reply = await this.#agency.replyTo(runKeyOfMessage(task.history[0]?.messageId ?? '', context));
    return reply === null ? task : addReplyToTask(this.#sdk, task, reply);
  }

  #isOpen({ status }: Task): boolean {
    const { TASK_STATE_SUBMITTED, TASK_STATE_WORKING } = this.#sdk.TaskState;
    return status?.state === TASK_STATE_SUBMITTED || status?.state === TASK_STATE_WORKING;
  }
}
