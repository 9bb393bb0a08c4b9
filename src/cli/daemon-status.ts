import { askDaemon, NoDaemonError } from '../daemon/hook/ask-daemon.ts';
import type { Io } from './io.ts';

interface DaemonStatus {
  readonly pid: number;
  readonly startedAt: string;
  readonly socket: string;
  readonly entry: string;
  readonly client: string;
  /** The address of `hopgate serve`; null if it does not serve HTTP. */
  readonly httpAddress: string | null;
  readonly atWork: number;
  readonly sessions: readonly { readonly id: string; readonly root: string; readonly busy: string | null }[];
}

/** The status of this user's daemon; null if none is running. */
export async function askDaemonStatus({ env }: Io): Promise<DaemonStatus | null> {
  const answer = await askDaemon('/status', { env }).catch(nullWithoutDaemon);
  return answer && (JSON.parse(answer.toString()) as DaemonStatus);
}

/** Ends this user's daemon after its running calls; false if none is running. */
export const stopDaemon = async ({ env }: Io): Promise<boolean> =>
  (await askDaemon('/stop', { env, body: '' }).catch(nullWithoutDaemon)) !== null;

function nullWithoutDaemon(error: unknown): null {
  if (error instanceof NoDaemonError) return null;
  throw error;
}
