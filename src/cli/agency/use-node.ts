import { resolve } from 'node:path';
import { Option } from 'commander';
import { DialIns } from '../../agency/dial-in.ts';
import type { AgencyNode } from '../../agency/node.ts';
import { agencyFolder, openNode } from '../../agency/open-node.ts';
import { type RunReply, replyOf } from '../../agency/reply.ts';
import { CANCELLED, cancelled, httpNode, type SendRun } from '../../agency/transport.ts';
import { visible } from '../../base/text.ts';
import { readToken } from '../../operator/token.ts';
import { nodeId, roleTokenFile } from '../../server/access/tokens.ts';
import { servedAt } from '../commands/clients/serve.ts';
import type { Io } from '../io.ts';

export interface AgencyOptions {
  readonly agency?: string;
}

export const agencyOption = (): Option =>
  new Option('--agency <dir>', 'the agency folder (default: ~/.config/hopgate/agency)');

export const folderOf = (io: Io, { agency }: AgencyOptions): string =>
  agency === undefined ? agencyFolder(io.env) : resolve(io.cwd, agency);

export const openOwn = (io: Io, options: AgencyOptions): AgencyNode =>
  openNode({ env: io.env, id: nodeId(io.env), folder: folderOf(io, options), dialIns: new DialIns() });

/**
 * Uses the running server, which has the connections of other nodes; else this process. Ctrl-C and SIGTERM cancel the
 * runs, so that no agent works on for nobody.
 */
export async function withNode<T>(
  io: Io,
  options: AgencyOptions,
  work: (send: SendRun, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const cancel = () => ended.abort(CANCELLED);
  for (const name of SIGNALS) process.once(name, cancel);
  try {
    return await atNode(io, options, (send) => work(send, ended.signal));
  } finally {
    for (const name of SIGNALS) process.off(name, cancel);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

async function atNode<T>(io: Io, options: AgencyOptions, work: (send: SendRun) => Promise<T>): Promise<T> {
  const served = options.agency === undefined ? await servedAt(io) : null;
  if (served?.startsWith('http:')) {
    const send = httpNode(served, readToken(roleTokenFile(io.env, 'operator')));
    return work(async (request, passage, signal) => {
      let reply: RunReply | null = null;
      const own = await replyOf(request['agent-id'], async () => {
        reply = await send(request, passage, signal);
        return null;
      });
      return reply ?? own;
    });
  }
  const node = openOwn(io, options);
  try {
    return await work(async (request, passage, signal) => {
      if (signal.aborted) return replyOf(request['agent-id'], () => Promise.reject(cancelled()));
      const cancel = () => void node.cancel(passage.key);
      signal.addEventListener('abort', cancel, { once: true });
      return endedWithWait(await node.run(request, passage));
    });
  } finally {
    await node.close();
  }
}

/** Without a server nobody goes on with a run when the caller stops waiting; the answer says so. */
function endedWithWait(reply: RunReply): RunReply {
  if (reply.ok || reply.error.code !== 'wait-ended') return reply;
  const error = {
    code: 'timed-out' as const,
    message: 'the agent did not answer in time, and was ended with this command',
    remedy: 'Start "hopgate serve": a run there continues when its caller stops waiting.',
  };
  return { ...reply, error };
}

/** A reply as text for a person. */
export function shownReply(reply: RunReply): string {
  if (!reply.ok) return `${reply.error.code}: ${visible(reply.error.message)} (${visible(reply.error.remedy)})`;
  const text = typeof reply.response === 'string' ? reply.response : JSON.stringify(reply.response, null, 2);
  return text.split('\n').map(visible).join('\n');
}
