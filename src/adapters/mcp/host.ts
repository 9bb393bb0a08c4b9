import type { SpecSet } from '../../spec/types.ts';
import type { AgentTool } from '../core/agent-session.ts';
import { Questions } from './asking.ts';
import type { McpOptions } from './options.ts';
import { Relisting } from './relisting.ts';
import { THAT_MOVE } from './resources.ts';
import { OWN_NAMES, type ToolNames, upstreamNames } from './tool-names.ts';

/** One that is told when the list of tools has changed, or what can be read has. */
export interface ListObserver {
  toolsChanged(): void;
  resourceUpdated(uri: string): void;
}

/** Who a server is for: one connection, or all those whose requests stand alone (modern HTTP), which are told of changes elsewhere. */
export class Peer {
  readonly relisting = new Relisting();
  readonly connected: boolean;

  constructor({ connected }: { readonly connected: boolean }) {
    this.connected = connected;
  }
}

/**
 * One session, served over MCP. What lasts from call to call is kept here and not in the servers that the SDK makes: there is one per connection,
 * or per request.
 */
export class McpHost {
  readonly options: McpOptions;
  readonly questions = new Questions();
  readonly #told = new Set<ListObserver>();
  #queue: Promise<unknown> = Promise.resolve();
  #listed: Promise<string>;
  #specs: Promise<SpecSet | null> | null = null;
  #closed: Promise<void> | null = null;

  constructor(options: McpOptions) {
    this.options = options;
    this.#listed = options.session.tools().then(sameness, () => '');
  }

  /** Adds one that is told of every change. Returns how to remove it. */
  tell(told: ListObserver): () => void {
    this.#told.add(told);
    return () => void this.#told.delete(told);
  }

  /** Runs calls one after the other, in the order in which they came. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(work);
    this.#queue = run.catch(() => {});
    return run;
  }

  /**
   * After a call: tells of what can be read anew and, where the tools are others than when it was last told, of that. The names of the tools that
   * are open now where they have changed, else null.
   */
  async tellChanges(): Promise<readonly string[] | null> {
    for (const uri of THAT_MOVE) for (const told of this.#told) told.resourceUpdated(uri);
    const before = await this.#listed;
    const tools = await this.options.session.tools();
    const now = sameness(tools);
    if (now === before) return null;
    this.#listed = Promise.resolve(now);
    for (const told of this.#told) told.toolsChanged();
    const { nameOf } = await this.names();
    return tools.map(({ name }) => nameOf(name));
  }

  /** The pinned spec set; null where it cannot be read. */
  specs(): Promise<SpecSet | null> {
    this.#specs ??= (this.options.reading?.spec() ?? Promise.resolve(null)).catch((error) => {
      this.report(error);
      return null;
    });
    return this.#specs;
  }

  /** Under which names this host's clients know the tools. */
  async names(): Promise<ToolNames> {
    const specs = this.options.upstreamNames ? await this.specs() : null;
    return specs ? upstreamNames(specs) : OWN_NAMES;
  }

  report(error: unknown): void {
    this.options.onError?.(error instanceof Error ? error : new Error(String(error)));
  }

  /** Waits for the call under way and lets go of the session. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#queue.then(() => this.options.session.close());
    return this.#closed;
  }
}

/** Equal for lists that say the same; a session that was opened anew may say it in another order. */
const sameness = (tools: readonly AgentTool[]): string =>
  JSON.stringify(tools, (_key, value: unknown) => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.every((one) => typeof one === 'string') ? [...value].sort() : value;
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
