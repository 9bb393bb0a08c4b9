import type { Session } from '../../session/session.ts';
import type { ProjectConfig, SpecSet } from '../../spec/types.ts';
import type { AgentSession } from '../core/agent-session.ts';
import { FirstTurn } from './first-turn.ts';
import { type Override, sandboxOverrides } from './overrides.ts';
import { type CodexThreadOptions, threadOptions } from './thread-options.ts';

/** What a thread of `@openai/codex-sdk` is started with, as far as hopgate sets it. */
export interface SdkThreadOptions {
  readonly sandboxMode?: CodexThreadOptions['sandboxMode'];
  readonly approvalPolicy: CodexThreadOptions['approvalPolicy'];
  readonly workingDirectory: string;
  readonly networkAccessEnabled?: boolean;
  readonly webSearchMode: CodexThreadOptions['webSearch'];
}

/** What `codexThread` uses of a `Thread` of the SDK. */
export interface CodexThreadLike {
  readonly id: string | null;
  run(...args: never[]): Promise<unknown>;
  runStreamed(...args: never[]): Promise<unknown>;
}

/** What `codexThread` uses of a `Codex` of the SDK. */
export interface CodexLike<T extends CodexThreadLike> {
  startThread(options?: never): T;
  resumeThread(id: string, options?: never): T;
}

/** A session that another process holds, and what its spec set is. */
export interface RemoteStanding {
  readonly session: Pick<AgentSession, 'status'>;
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
  /** Absolute real path of the repository. */
  readonly root: string;
}

export interface ThreadSettings {
  /** Further options for every turn, such as `model` or `skipGitRepoCheck`. What hopgate sets, it sets over them. */
  readonly options?: { readonly [name: string]: unknown };
  /** A thread to go on with. */
  readonly id?: string;
  /** Told when a thread starts or is resumed with other options, before the turn. */
  readonly onOptions?: (options: CodexThreadOptions) => void;
}

/** A thread of Codex whose sandbox follows its session from turn to turn. */
export interface PeripheralThread<T extends CodexThreadLike> {
  /** null until the first turn has begun. */
  readonly id: string | null;
  /** The SDK's `run`, under the options of the peripheral that the session is in now. */
  run(...args: Parameters<T['run']>): Promise<Awaited<ReturnType<T['run']>>>;
  /** The SDK's `runStreamed`, likewise. */
  runStreamed(...args: Parameters<T['runStreamed']>): Promise<Awaited<ReturnType<T['runStreamed']>>>;
}

/**
 * Runs the turns of one Codex thread, each with the sandbox that the session's peripheral grants at its start: after a hop, the same thread is
 * resumed with other options. Within a turn the sandbox stays as it is; what the turn does through hopgate's tools follows each hop at once.
 *
 * @param codex a `Codex` of `@openai/codex-sdk`: its sandbox is `read-only` or `workspace-write` then. Or what makes one from overrides
 * (`(configOverrides) => new Codex({ configOverrides })`): then only the scope's folders can be written, and no masked file read.
 * @example
 * const thread = codexThread(session, (configOverrides) => new Codex({ configOverrides: [...configOverrides, ...tools] }));
 * await thread.run('Fix the failing test.');
 */
export function codexThread<T extends CodexThreadLike>(
  standing: Session | RemoteStanding,
  codex: CodexLike<T> | ((configOverrides: Override[]) => CodexLike<T>),
  { options: further = {}, id, onOptions = () => {} }: ThreadSettings = {},
): PeripheralThread<T> {
  let thread: T | null = null;
  let last = '';
  const threadId = () => thread?.id ?? id ?? null;
  const ready = async (): Promise<T> => {
    const { options, root } = await optionsOf(standing);
    const now = JSON.stringify(options);
    if (thread !== null && now === last) return thread;
    onOptions(options);
    const byProfile = typeof codex === 'function';
    const sdk = byProfile ? codex([...sandboxOverrides(options, root)]) : codex;
    const started = { ...further, ...sdkOptions(options, root, byProfile) } as never;
    const known = threadId();
    thread = known === null ? sdk.startThread(started) : sdk.resumeThread(known, started);
    last = now;
    return thread;
  };
  const first = new FirstTurn(() => threadId() !== null);
  return {
    get id() {
      return threadId();
    },
    run: async (...args) => (await first.before(async () => first.ofRun((await ready()).run(...args)))).turn as never,
    runStreamed: (...args) =>
      first.before(async () => first.ofStream(await (await ready()).runStreamed(...args))) as never,
  };
}

async function optionsOf(standing: Session | RemoteStanding): Promise<{ options: CodexThreadOptions; root: string }> {
  const { specs, config, root } = standing;
  const { peripheral, mode } = 'session' in standing ? await standing.session.status() : standing.state;
  return { options: threadOptions(specs, config, peripheral, root, mode), root };
}

/** A permission profile and a sandbox mode exclude each other. */
function sdkOptions(options: CodexThreadOptions, root: string, byProfile: boolean): SdkThreadOptions {
  const { sandboxMode, approvalPolicy, networkAccess, webSearch } = options;
  const all = { approvalPolicy, workingDirectory: root, webSearchMode: webSearch };
  return byProfile ? all : { ...all, sandboxMode, networkAccessEnabled: networkAccess };
}
