/** A process inside a machine of two-machines.test.ts. Each line of stdin is a call, each line of stdout its result. */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { reviewContributionsOf } from '../../src/agency/par/review-document.ts';
import { joinReviewDocument } from '../../src/agency/par/run-participants.ts';
import { type Cut, openWire } from './breaking-wire.ts';
import { openCountingAgent } from './counting-agent.ts';

let release = () => {};
let agent: Awaited<ReturnType<typeof openCountingAgent>> | undefined;
let wire: Awaited<ReturnType<typeof openWire>> | undefined;

async function post(url: string, token: string, key: string, body: object) {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, 'Idempotency-Key': key };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

const CALLS = {
  agent: async (wait: number | 'held' = 0) => {
    const held = new Promise<void>((done) => (release = done));
    agent = await openCountingAgent(wait === 'held' ? held : wait);
    return agent.url;
  },
  /** Lets a held agent answer. */
  release: () => release(),
  /** Counts the starts of the agent with a prompt that ends with this text. */
  starts: (ending: string) => agent!.prompts.filter((prompt) => prompt.endsWith(ending)).length,
  wire: async (port: number, host: string) => {
    wire = await openWire(port, host);
    return wire.port;
  },
  cut: (cut: Cut) => wire!.cut(cut),
  isBroken: () => wire!.isBroken(),
  post,
  /** The answer, or null if the connection broke. */
  tryPost: (...call: Parameters<typeof post>) => post(...call).catch(() => null),
  get: async (url: string, token: string) =>
    (await fetch(url, { headers: { Authorization: `Bearer ${token}` } })).json(),
  /** The contributions of a document, once it has this number of them. */
  joined: async (url: string, par: string, token: string, count: number) => {
    const replica = await joinReviewDocument(url, par, token);
    while (Object.keys(reviewContributionsOf(replica.doc)).length < count) await sleep(20);
    replica.leave();
    return reviewContributionsOf(replica.doc);
  },
};
export type Calls = typeof CALLS;

for await (const line of createInterface(process.stdin)) {
  const [name, args] = JSON.parse(line) as [keyof Calls, never[]];
  const result = await (CALLS[name] as (...args: never[]) => unknown)(...args);
  process.stdout.write(`${JSON.stringify(result ?? null)}\n`);
}
process.exit();
