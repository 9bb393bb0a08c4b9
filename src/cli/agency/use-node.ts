import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option } from 'commander';
import type { AgencyNode } from '../../agency/agency-node.ts';
import { DialIns } from '../../agency/dial-in.ts';
import { NearestNode } from '../../agency/nearest-node.ts';
import { agencyFolder, openAgencyNode } from '../../agency/open-node.ts';
import type { RunReply } from '../../agency/run-reply.ts';
import { RUN_CANCELLED_REASON, type SendRun } from '../../agency/send-run.ts';
import { escapeInvisible } from '../../base/text.ts';
import { nodeIdOfUser } from '../../server/access/tokens.ts';
import { type Io, usageError } from '../io.ts';
import { onTerminationSignal } from '../on-signal.ts';

interface AgencyOptions {
  readonly agency?: string;
}

export const agencyOption = (): Option =>
  new Option('--agency <dir>', 'the agency folder (default: ~/.config/hopgate/agency)');

/** The agency folder. The user's default folder may be missing; a named folder must exist. @throws CliError (usage) */
export function agencyFolderOf(io: Io, { agency }: AgencyOptions): string {
  if (agency === undefined) return agencyFolder(io.env);
  const folder = resolve(io.cwd, agency);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw usageError(`there is no folder ${folder}`, 'Name the folder of peripherals.yaml and agents.yaml.');
}

export const openLocalNode = (io: Io, options: AgencyOptions): AgencyNode =>
  openAgencyNode({
    env: io.env,
    id: nodeIdOfUser(io.env),
    folder: agencyFolderOf(io, options),
    dialIns: new DialIns(),
  });

/**
 * Calls `work` with a function that sends runs to the running server, because other nodes are connected to it. Without
 * a server, this process runs them. Ctrl-C and SIGTERM cancel the runs, so that no agent continues without a caller.
 */
export async function withLocalNode<T>(
  io: Io,
  options: AgencyOptions,
  work: (send: SendRun, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { env } = io;
  const folder = options.agency === undefined ? {} : { folder: agencyFolderOf(io, options) };
  const nearest = new NearestNode({ env, role: 'operator', ...folder });
  const ended = new AbortController();
  const stop = onTerminationSignal(() => ended.abort(RUN_CANCELLED_REASON));
  try {
    return await work(
      async (...run) => (nearest.server === null ? withServerRemedy(await nearest.send(...run)) : nearest.send(...run)),
      ended.signal,
    );
  } finally {
    await nearest.close();
    stop();
  }
}

/** Without a server, a run ends when its caller stops waiting; the reply then says so and recommends a server. */
function withServerRemedy(reply: RunReply): RunReply {
  if (reply.ok || reply.error.code !== 'wait-ended') return reply;
  const error = {
    code: 'timed-out' as const,
    message: 'the agent did not answer in time, so this command ended it',
    remedy: 'Start "hopgate serve": a run there continues when its caller stops waiting.',
  };
  return { ...reply, error };
}

/** The reply to a run as text for a person. */
export function formatRunReply(reply: RunReply): string {
  if (!reply.ok)
    return `${reply.error.code}: ${escapeInvisible(reply.error.message)} (${escapeInvisible(reply.error.remedy)})`;
  const text = typeof reply.response === 'string' ? reply.response : JSON.stringify(reply.response, null, 2);
  return text.split('\n').map(escapeInvisible).join('\n');
}
