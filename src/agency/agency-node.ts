import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { resultWithin } from '../base/limited-wait.ts';
import { valueOr } from '../base/value-or.ts';
import type { AgencyAgent, AgencySpec, LocalAgent } from '../spec/agency/agency-types.ts';
import { getOwn, nameRemedy } from '../spec/names.ts';
import type { Json } from '../spec/types.ts';
import type { AgentDriver } from './agent-driver.ts';
import { runAgent } from './run-agent.ts';
import type { RunJournal } from './run-journal.ts';
import { REFUSED_RUN_CODES, RunFailure, type RunReply, runReplyOf } from './run-reply.ts';
import { type RunRequest, renderPrompt, type SessionContextRequest } from './run-request.ts';
import { RUN_CANCELLED_REASON, type RunRoutingData, type SendRun } from './send-run.ts';

/** Maximum number of nodes that a run may pass. */
const MAX_HOPS = 8;
/** Interval for polling the state of a run of another process, in milliseconds. */
const POLL_MS = 100;
/**
 * The abort reason with which a closing node ends its agents. A run that this node passed on continues on the other
 * node.
 */
const NODE_CLOSED = Symbol('closed');

interface AgencyNodeOptions {
  /** The id of this node, unique among all nodes. */
  readonly id: string;
  /** Reads the file that names the agency's peripherals and agents. @throws SpecError */
  readonly load: () => AgencySpec;
  readonly driverOf: (agent: LocalAgent & { readonly id: string }) => Promise<AgentDriver>;
  /** Returns the function that sends runs to the node of a remote agent. */
  readonly senderTo: (agent: AgencyAgent & { readonly location: 'remote' | 'dial-in' }) => SendRun;
  readonly journal: RunJournal;
}

/** Returns the request with the text of the session that its field `context-from` names. @throws RunFailure */
export type AddSessionContext = (request: RunRequest, from: SessionContextRequest) => Promise<RunRequest>;

const withoutSession: AddSessionContext = async () => {
  throw new RunFailure(
    'session-unavailable',
    'this program cannot read the session that "context-from" names',
    'Start "hopgate serve" on the machine of the session, then run the agent again.',
  );
};

interface RunningRun {
  readonly reply: Promise<RunReply>;
  readonly digest: string;
  readonly cancel: AbortController;
  /** True if this process works on the run; false if another process of this machine does. */
  readonly isMine: () => boolean;
}

type AgentElsewhere = AgencyAgent & { readonly location: 'remote' | 'dial-in' };

/** A node of the agency: runs its own agents, and passes other runs on to the node of their agent. */
export class AgencyNode {
  readonly #options: AgencyNodeOptions;
  readonly #running = new Map<string, RunningRun>();

  constructor(options: AgencyNodeOptions) {
    this.#options = options;
  }

  get id(): string {
    return this.#options.id;
  }

  /** Reads the file of the agency's spec again. @throws SpecError */
  spec(): AgencySpec {
    return this.#options.load();
  }

  /** The reply to the run with this key; null while its process still works on it. */
  async replyTo(key: string): Promise<RunReply | null> {
    const known = this.#running.has(key) ? null : this.#options.journal.find(key);
    if (known === null || known.is === 'elsewhere') return null;
    return known.is === 'done' ? known.reply : runReplyOf('', () => Promise.reject(interruptedRun()));
  }

  /**
   * Runs an agent once for each key. A request with the same key joins the running run, or gets the reply of the ended
   * one. Never throws for a refused or failed run.
   * @param addContext called once before the agent starts, if the request names a session
   */
  async run(
    request: RunRequest,
    route: RunRoutingData,
    addContext: AddSessionContext = withoutSession,
  ): Promise<RunReply> {
    const agent = request['agent-id'];
    const refused = routeRefusal(this.#options.id, route);
    if (refused) return runReplyOf(agent, () => Promise.reject(refused));
    const digest = hash('sha256', JSON.stringify(sortKeys(request)));
    const running = this.#running.get(route.key);
    if (running && running.digest !== digest)
      return runReplyOf(agent, async () => {
        throw new RunFailure('key-reused', 'another run has this idempotency key', 'Use a new key for each run.');
      });
    return replyWithin(agent, (running ?? this.#begin(request, digest, route, addContext)).reply, route.budgetMs);
  }

  /** Ends the run with this key. Returns false if this process does not work on it. */
  cancel(key: string): boolean {
    const running = this.#running.get(key);
    if (!running?.isMine()) return false;
    running.cancel.abort(RUN_CANCELLED_REASON);
    return true;
  }

  async close(): Promise<void> {
    for (const { cancel } of this.#running.values()) cancel.abort(NODE_CLOSED);
    await Promise.allSettled([...this.#running.values()].map(({ reply }) => reply));
    this.#options.journal.close();
  }

  #begin(request: RunRequest, digest: string, route: RunRoutingData, addContext: AddSessionContext): RunningRun {
    const { journal } = this.#options;
    const { key } = route;
    const cancel = new AbortController();
    let isMine = false;
    const work = async (): Promise<RunReply> => {
      for (;;) {
        const begun = journal.begin(key, digest);
        if (begun.is === 'done') return begun.reply;
        if (begun.is === 'new' || (begun.is === 'interrupted' && this.#isElsewhere(request))) break;
        if (begun.is === 'interrupted') return runReplyOf(request['agent-id'], () => Promise.reject(interruptedRun()));
        if (cancel.signal.aborted) return runReplyOf(request['agent-id'], () => Promise.reject(waitEnded()));
        await sleep(POLL_MS, undefined, { signal: cancel.signal }).catch(() => {});
      }
      isMine = true;
      try {
        const reply = await this.#carryOut(request, route, cancel.signal, addContext);
        // A refused run may be repeated once its cause is removed. A node that cannot be reached may have run the
        // request, and the next request with this key asks it again.
        const code = reply.ok ? null : reply.error.code;
        if (code !== null && (code === 'agent-unreachable' || REFUSED_RUN_CODES.has(code))) journal.forget(key);
        else journal.finish(key, reply);
        return reply;
      } catch (error) {
        journal.forget(key);
        throw error;
      }
    };
    const reply = work().catch((error: unknown) => runReplyOf(request['agent-id'], () => Promise.reject(error)));
    const running = { reply, digest, cancel, isMine: () => isMine };
    this.#running.set(key, running);
    const done = () => void this.#running.delete(key);
    reply.then(done, done);
    return running;
  }

  /** True if another node runs the agent. That node knows the key, so a repeated request starts nothing. */
  #isElsewhere(request: RunRequest): boolean {
    return valueOr(() => routeAgent(this.#options.load(), request).location !== 'local', false);
  }

  async #carryOut(
    original: RunRequest,
    route: RunRoutingData,
    cancel: AbortSignal,
    addContext: AddSessionContext,
  ): Promise<RunReply> {
    const name = original['agent-id'];
    let request = original;
    const refused = await runReplyOf(name, async () => {
      if (original['context-from'] !== undefined) request = await addContext(original, original['context-from']);
      return null;
    });
    if (!refused.ok) return refused;
    let elsewhere: AgentElsewhere | null = null;
    const reply = await runReplyOf(name, async (): Promise<Json> => {
      const spec = this.#options.load();
      const agent = routeAgent(spec, request);
      if (agent.location !== 'local') {
        elsewhere = agent;
        return null;
      }
      const peripheral = getOwn(spec.peripherals, request.peripheral);
      if (!peripheral)
        throw new RunFailure(
          'unknown-peripheral',
          `there is no agency peripheral "${request.peripheral}"`,
          nameRemedy(request.peripheral, Object.keys(spec.peripherals)),
        );
      const on = Object.entries(peripheral.tools).flatMap(([tool, isOn]) => (isOn ? [tool] : []));
      if (request.tools === 'off' && on.length > 0)
        throw new RunFailure(
          'tools-refused',
          `${request.peripheral} has tools (${on.join(', ')}), and this caller may not start agents with tools`,
          'Name an agency peripheral without tools, or ask the author of the spec to write "within: own" under "delegates".',
        );
      const prompt = renderPrompt(peripheral, request);
      return runAgent(await this.#options.driverOf(agent), peripheral, prompt, cancel);
    });
    return elsewhere === null ? reply : this.#pass(elsewhere, request, route, cancel);
  }

  /** Sends a run to the agent's node. If that node only stopped waiting, it is asked again for the late reply. */
  async #pass(
    agent: AgentElsewhere,
    { route: _, ...request }: RunRequest,
    { key, budgetMs, via }: RunRoutingData,
    cancel: AbortSignal,
  ): Promise<RunReply> {
    const route = { key, via: [...via, this.#options.id] };
    let reply: RunReply | null = null;
    const failed = await runReplyOf(agent.id, async () => {
      const send = this.#options.senderTo(agent);
      reply = await send(request, { ...route, budgetMs }, cancel);
      if (isWaitEnded(reply)) reply = await send(request, { ...route, budgetMs: null }, cancel);
      return null;
    });
    return reply !== null && !isWaitEnded(reply) ? reply : failed;
  }
}

const isWaitEnded = (reply: RunReply): boolean => !reply.ok && reply.error.code === 'wait-ended';

const waitEnded = (): RunFailure =>
  new RunFailure('wait-ended', 'the run lasts longer than the caller waits', 'Send it again with the same key.');

const interruptedRun = (): RunFailure =>
  new RunFailure(
    'run-interrupted',
    'the node ended while the agent worked',
    'The agent may have finished its work. Check that first, then start another run with a new key.',
  );

/** The failure of a run that passed this node before, or too many nodes; null for any other run. */
function routeRefusal(id: string, { via }: RunRoutingData): RunFailure | null {
  if (via.includes(id))
    return new RunFailure(
      'loop-refused',
      'the run came back to a node that had already passed it on',
      'Correct the location of the agent in the registries of these nodes.',
    );
  if (via.length >= MAX_HOPS)
    return new RunFailure('too-many-hops', `the run passed ${MAX_HOPS} nodes`, 'Correct the url in the registry.');
  return null;
}

/** Finds the agent that a request names, at the location that its `route` names. @throws RunFailure */
function routeAgent({ agents }: AgencySpec, { 'agent-id': id, route }: RunRequest): AgencyAgent {
  const agent = getOwn(agents, id);
  if (route === undefined || route === 'local') {
    if (!agent)
      throw new RunFailure(
        'unknown-agent',
        `there is no agent "${id}"`,
        Object.keys(agents).length === 0
          ? 'Describe one in agents.yaml of the agency folder.'
          : nameRemedy(id, Object.keys(agents)),
      );
    if (route === undefined || agent.location === 'local') return agent;
    throw new RunFailure('unknown-agent', `this node does not run "${id}" itself`, 'Leave "route" out.');
  }
  const named = Object.values(agents).find((other) => other.location === 'remote' && other.url === route);
  if (named?.location !== 'remote')
    throw new RunFailure('invalid-request', `no remote agent of the registry has the url ${route}`, 'Add it there.');
  return { id, location: 'remote', url: named.url, tokenFile: named.tokenFile, node: named.node };
}

/** The reply, or `wait-ended` if it takes longer than the caller waits; the run then continues. */
async function replyWithin(agent: string, reply: Promise<RunReply>, budgetMs: number | null): Promise<RunReply> {
  if (budgetMs === null) return reply;
  const first = await resultWithin(budgetMs, reply, null);
  if (first !== null) return first;
  const { meta, ...rest } = await runReplyOf(agent, () => Promise.reject(waitEnded()));
  return { ...rest, meta: { ...meta, 'duration-ms': Math.round(budgetMs) } } as RunReply;
}

/** Turns each object of a value into a sorted list of its members, so that equal requests have equal digests. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sortKeys(item)]);
}
