import type { SpecSet } from '../../spec/types.ts';
import { type AgentTool, assertAgentSession } from '../core/agent-session.ts';
import { ApprovalQuestions } from './approval-questions.ts';
import { LongAnswerParts } from './long-answers.ts';
import type { McpOptions } from './mcp-options.ts';
import { CHANGING_RESOURCE_URIS, INBOX_RESOURCE_URI } from './serve-resources.ts';
import { type McpTask, McpTasks } from './tasks/mcp-tasks.ts';
import { ToolListTracker } from './tool-list-tracker.ts';
import { type ClientToolNames, upstreamToolNames } from './upstream-names.ts';

/** Polling interval for changes by other processes, in milliseconds. */
const POLL_MS = 250;

/** Maximum size of an answer in bytes, about 8,000 tokens: Codex cuts out the middle of answers of more than 10,000. */
const ANSWER_BYTES = 32_000;

interface ListObserver {
  toolsChanged(): void;
  resourceUpdated(uri: string): void;
  taskChanged?(task: McpTask): void;
}

/** A client as one MCP server sees it: one connection, or all clients together if their requests are stateless. */
export class ServedClient {
  readonly relisting = new ToolListTracker();
  readonly connected: boolean;

  constructor({ connected }: { readonly connected: boolean }) {
    this.connected = connected;
  }
}

/**
 * One session, served over MCP. It holds the state that outlives a call: the SDK makes one server per request.
 * @throws TypeError if `options.session` is not an `agentSession(…)`
 */
export class McpHost {
  readonly options: McpOptions;
  readonly questions = new ApprovalQuestions();
  readonly longAnswers: LongAnswerParts;
  readonly tasks: McpTasks;
  readonly #observers = new Set<ListObserver>();
  #queue: Promise<unknown> = Promise.resolve();
  #listed: Promise<string>;
  /** The number of the last entry that the observers were notified of; -1 if there is none. */
  #notified: Promise<number>;
  #specs: Promise<SpecSet | null> | null = null;
  #closed: Promise<void> | null = null;
  readonly #poll: NodeJS.Timeout | null;

  constructor(options: McpOptions) {
    assertAgentSession(options?.session, 'McpHost');
    this.options = options;
    this.longAnswers = new LongAnswerParts(options.answerBytes ?? ANSWER_BYTES);
    this.tasks = new McpTasks(options, (task) => {
      for (const observer of this.#observers) observer.taskChanged?.(task);
    });
    this.#listed = options.session.tools().then(listKey, () => '');
    this.#notified = this.#lastEntry();
    this.#poll = options.reading ? this.#pollForChanges(options.reading) : null;
  }

  /** Notifies the observers of new unread messages, and of a change of the tools by another process's hop. */
  #pollForChanges(reading: NonNullable<McpOptions['reading']>): NodeJS.Timeout {
    let [unread, last] = ['', -1];
    let isPolling = false;
    const poll = async (): Promise<void> => {
      if (isPolling || this.#observers.size === 0) return;
      isPolling = true;
      const messages = await reading.inbox().catch(() => null);
      const now = messages?.map(({ id }) => id).join(' ') ?? unread;
      const entry = await this.#lastEntry();
      isPolling = false;
      if (now !== unread) for (const observer of this.#observers) observer.resourceUpdated(INBOX_RESOURCE_URI);
      // Waits for a running call, because the call itself notifies of its changes.
      if (entry !== last)
        this.inOrder(async () => {
          if (entry > (await this.#notified)) await this.notifyOfChanges();
        }).catch((error) => this.report(error));
      [unread, last] = [now, entry];
    };
    return setInterval(() => void poll(), POLL_MS).unref();
  }

  async #lastEntry(): Promise<number> {
    return (await this.options.reading?.last?.().catch(() => null)) ?? -1;
  }

  /** Adds an observer of every change. Returns the function that removes it. */
  observe(observer: ListObserver): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  /** Runs calls one after the other, in the order of their arrival. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(work);
    this.#queue = run.catch(() => {});
    return run;
  }

  /**
   * Notifies the observers after new entries: of the resources, and of the tools if they have changed since the last
   * notification. Returns the names of the tools available now; null if they have not changed.
   */
  async notifyOfChanges(): Promise<readonly string[] | null> {
    this.#notified = this.#lastEntry();
    for (const uri of CHANGING_RESOURCE_URIS) for (const observer of this.#observers) observer.resourceUpdated(uri);
    const before = await this.#listed;
    const tools = await this.options.session.tools();
    const now = listKey(tools);
    if (now === before) return null;
    this.#listed = Promise.resolve(now);
    this.notifyOfTools();
    const { nameOf } = await this.names();
    return tools.map(({ name }) => nameOf(name));
  }

  notifyOfTools(): void {
    for (const observer of this.#observers) observer.toolsChanged();
  }

  /** The pinned spec set; null if it cannot be read. */
  specs(): Promise<SpecSet | null> {
    this.#specs ??= (this.options.reading?.spec() ?? Promise.resolve(null)).catch((error) => {
      this.report(error);
      return null;
    });
    return this.#specs;
  }

  async names(): Promise<ClientToolNames> {
    const specs = this.options.upstreamNames ? await this.specs() : null;
    return specs ? upstreamToolNames(specs) : { nameOf: (id) => id, idOf: (name) => name };
  }

  report(error: unknown): void {
    this.options.onError?.(error instanceof Error ? error : new Error(String(error)));
  }

  /** Ends the waits of tasks, waits for the running call and closes the session. Idempotent. */
  close(): Promise<void> {
    this.tasks.close();
    if (this.#poll) clearInterval(this.#poll);
    this.#closed ??= this.#queue.then(() => this.options.session.close());
    return this.#closed;
  }
}

/** A key that is equal for lists with the same content; a resumed session may list in another order. */
const listKey = (tools: readonly AgentTool[]): string =>
  JSON.stringify(tools, (_key, value: unknown) => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.every((item) => typeof item === 'string') ? [...value].sort() : value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
