import type { SessionPin } from '../../session/pin.ts';
import type { Session } from '../../session/session.ts';
import type { AgentSession } from '../core/agent-session.ts';
import { FirstTurnQueue } from './first-turn.ts';
import { type CodexOverride, sandboxOverrides } from './overrides.ts';
import { type CodexThreadOptions, threadOptions } from './thread-options.ts';

/** The options of a thread of `@openai/codex-sdk` that hopgate sets. */
export interface SdkThreadOptions {
  readonly sandboxMode?: CodexThreadOptions['sandboxMode'];
  readonly approvalPolicy: CodexThreadOptions['approvalPolicy'];
  readonly workingDirectory: string;
  readonly networkAccessEnabled?: boolean;
  readonly webSearchMode: CodexThreadOptions['webSearch'];
}

/** The part of the SDK's `Thread` that `codexThread` uses. */
export interface CodexThreadLike {
  readonly id: string | null;
  run(...args: never[]): Promise<unknown>;
  runStreamed(...args: never[]): Promise<unknown>;
}

/** The part of the SDK's `Codex` that `codexThread` uses. */
export interface CodexLike<T extends CodexThreadLike> {
  startThread(options?: never): T;
  resumeThread(id: string, options?: never): T;
}

/** A session in another process, with its spec set. */
export interface RemoteSession extends SessionPin {
  readonly session: Pick<AgentSession, 'status'>;
  /** Absolute real path of the repository. */
  readonly root: string;
}

export interface ThreadSettings {
  /** Further options for every turn, such as `model`. The options that hopgate sets override them. */
  readonly options?: { readonly [name: string]: unknown };
  readonly id?: string;
  /** Called before a turn that starts the thread, or resumes it with other options. */
  readonly onOptions?: (options: CodexThreadOptions) => void;
}

/** A Codex thread whose sandbox is adapted to its session's peripheral before each turn. */
export interface PeripheralThread<T extends CodexThreadLike> {
  /** null until the first turn has begun. */
  readonly id: string | null;
  /** The SDK's `run`, with the options of the session's current peripheral. */
  run(...args: Parameters<T['run']>): Promise<Awaited<ReturnType<T['run']>>>;
  /** The SDK's `runStreamed`, with the same options. */
  runStreamed(...args: Parameters<T['runStreamed']>): Promise<Awaited<ReturnType<T['runStreamed']>>>;
}

/**
 * Runs the turns of one Codex thread, each with the sandbox that the session's peripheral grants when the turn begins.
 * After a hop, the same thread is resumed with other options. The sandbox does not change within a turn; the calls of
 * hopgate's tools follow each hop immediately.
 * @param codex a `Codex` of `@openai/codex-sdk`, whose sandbox is then `read-only` or `workspace-write`; or a function
 *   that makes one from overrides (`(configOverrides) => new Codex({ configOverrides })`), so that only the scope's
 *   folders can be written, and no masked file can be read
 * @example
 * const thread = codexThread(session, (configOverrides) => new Codex({ configOverrides }));
 * await thread.run('Fix the failing test.');
 */
export function codexThread<T extends CodexThreadLike>(
  session: Session | RemoteSession,
  codex: CodexLike<T> | ((configOverrides: CodexOverride[]) => CodexLike<T>),
  { options: further = {}, id, onOptions = () => {} }: ThreadSettings = {},
): PeripheralThread<T> {
  let thread: T | null = null;
  let last = '';
  const threadId = () => thread?.id ?? id ?? null;
  const ready = async (): Promise<T> => {
    const { options, root } = await optionsOf(session);
    const now = JSON.stringify(options);
    if (thread !== null && now === last) return thread;
    onOptions(options);
    const byProfile = typeof codex === 'function';
    const sdk = byProfile ? codex([...sandboxOverrides(options, root)]) : codex;
    const started = { ...further, ...sdkOptions(options, root, byProfile) } as never;
    const earlierId = threadId();
    thread = earlierId === null ? sdk.startThread(started) : sdk.resumeThread(earlierId, started);
    last = now;
    return thread;
  };
  const first = new FirstTurnQueue(() => threadId() !== null);
  return {
    get id() {
      return threadId();
    },
    run: async (...args) => (await first.before(async () => first.ofRun((await ready()).run(...args)))).turn as never,
    runStreamed: (...args) =>
      first.before(async () => first.ofStream(await (await ready()).runStreamed(...args))) as never,
  };
}

async function optionsOf(session: Session | RemoteSession): Promise<{ options: CodexThreadOptions; root: string }> {
  const { specs, config, root } = session;
  const { peripheral, mode } = 'session' in session ? await session.session.status() : session.state;
  return { options: threadOptions(specs, config, peripheral, root, mode), root };
}

/** Codex accepts either a permission profile or a sandbox mode. */
function sdkOptions(options: CodexThreadOptions, root: string, byProfile: boolean): SdkThreadOptions {
  const { sandboxMode, approvalPolicy, networkAccess, webSearch } = options;
  const all = { approvalPolicy, workingDirectory: root, webSearchMode: webSearch };
  return byProfile ? all : { ...all, sandboxMode, networkAccessEnabled: networkAccess };
}
