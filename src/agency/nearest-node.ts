import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '../base/files.ts';
import { fieldsOf, parseJson, textOf } from '../base/json.ts';
import { isLeaseHolderRunning, nameLeaseHolder } from '../base/process-holder.ts';
import { type Env, userStateFolder } from '../base/user-folders.ts';
import { valueOr } from '../base/value-or.ts';
import type { AgencyNode } from './agency-node.ts';
import { DialIns } from './dial-in.ts';
import { openAgencyNode, readTokenFile } from './open-node.ts';
import { type RunReply, runReplyOf } from './run-reply.ts';
import { RUN_CANCELLED_REASON, runCancelledFailure, type SendRun, sendRunsOverHttp } from './send-run.ts';

const folderOf = (env: Env): string => join(userStateFolder(env), 'server');
const addressFile = (env: Env): string => join(folderOf(env), 'agency.json');

/** Writes the address of this user's server to a file for {@link NearestNode}. The returned function removes it. */
export function writeNodeAddress(env: Env, url: string): () => void {
  const file = addressFile(env);
  makeFolders(folderOf(env), 0o700);
  const text = JSON.stringify({ url, holder: nameLeaseHolder(String(process.pid)) });
  writeFileSync(file, text, { mode: 0o600 });
  return () => {
    if (textIn(file) === text) rmSync(file, { force: true });
  };
}

/** The address of the server of this user; null if none runs. */
function announcedNode(env: Env): string | null {
  const { url, holder } = fieldsOf(parseJson(textIn(addressFile(env))));
  return isLeaseHolderRunning(textOf(holder) ?? '') ? textOf(url) : null;
}

const textIn = (file: string): string => valueOr(() => readFileSync(file, 'utf8'), '');

interface NearestOptions {
  readonly env: Env;
  /** The role whose token is sent to the server. */
  readonly role: 'operator' | 'agent';
  /** An agency folder whose agents run in this process, not through the server. */
  readonly folder?: string;
}

/** Runs agents through this user's server, which is connected to other nodes; without a server, in this process. */
export class NearestNode {
  readonly #options: NearestOptions;
  #own: AgencyNode | null = null;

  constructor(options: NearestOptions) {
    this.#options = options;
  }

  /** The address of the server; null if runs work in this process, and end with it. */
  get server(): string | null {
    return this.#options.folder === undefined ? announcedNode(this.#options.env) : null;
  }

  /** Sends a run. Never throws for a failed run or a server that cannot be reached. */
  readonly send: SendRun = async (request, route, signal) => {
    const { env, role } = this.#options;
    const url = this.server;
    if (url === null) return this.#runHere(request, route, signal);
    let reply: RunReply | null = null;
    const failed = await runReplyOf(request['agent-id'], async () => {
      reply = await sendRunsOverHttp(url, readTokenFile(join(folderOf(env), `${role}.token`)))(request, route, signal);
      return null;
    });
    return reply ?? failed;
  };

  /** Ends the runs of this process. Runs of the server continue. */
  async close(): Promise<void> {
    await this.#own?.close();
    this.#own = null;
  }

  readonly #runHere: SendRun = async (request, route, signal) => {
    const agent = request['agent-id'];
    if (signal.aborted) return runReplyOf(agent, () => Promise.reject(runCancelledFailure()));
    const { env, folder } = this.#options;
    const id = `process-${randomUUID()}`;
    this.#own ??= openAgencyNode({ env, id, dialIns: new DialIns(), folder });
    const own = this.#own;
    const stop = (): void => void (signal.reason === RUN_CANCELLED_REASON && own.cancel(route.key));
    signal.addEventListener('abort', stop, { once: true });
    return own.run(request, route).finally(() => signal.removeEventListener('abort', stop));
  };
}
