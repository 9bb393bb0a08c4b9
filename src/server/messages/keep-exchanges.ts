import { setTimeout as sleep } from 'node:timers/promises';
import type { AgencyNode } from '../../agency/agency-node.ts';
import { readTokenFile } from '../../agency/open-node.ts';
import type { RemoteAgent } from '../../spec/agency/agency-types.ts';
import { describeExchange, exchangeMailWithNode } from './exchange-mail.ts';
import type { NodeMailExchange } from './node-mail.ts';

/** Interval for reading the registry again, in milliseconds. */
const POLL_MS = 2_000;

/** Exchanges messages with every node whose address is in the registry, until the signal is aborted. */
export async function exchangeMailWithAllNodes(
  { agency, mail }: { readonly agency: AgencyNode; readonly mail: NodeMailExchange },
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<void> {
  const running = new Map<string, AbortController>();
  while (!signal.aborted) {
    const remotes = remotesOf(agency);
    for (const [key, ended] of running)
      if (!remotes.has(key)) {
        ended.abort();
        running.delete(key);
      }
    for (const [key, { node, url, tokenFile }] of remotes) {
      if (running.has(key)) continue;
      const ended = new AbortController();
      running.set(key, ended);
      const until = AbortSignal.any([signal, ended.signal]);
      const onChange = (problem: string | null): void => log(describeExchange(node, problem));
      void exchangeMailWithNode({ node, url, token: () => readTokenFile(tokenFile), mail, signal: until, onChange });
    }
    await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

function remotesOf(agency: AgencyNode): ReadonlyMap<string, RemoteAgent> {
  const remotes = new Map<string, RemoteAgent>();
  try {
    for (const agent of Object.values(agency.spec().agents))
      if (agent.location === 'remote') remotes.set(JSON.stringify([agent.node, agent.url, agent.tokenFile]), agent);
  } catch {
    // "hopgate agency check" reports the problems of the registry.
  }
  return remotes;
}
