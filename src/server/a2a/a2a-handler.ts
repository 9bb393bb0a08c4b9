import type { AgencyNode } from '../../agency/agency-node.ts';
import { makeFolders } from '../../base/files.ts';
import { fieldsOf, isObject } from '../../base/json.ts';
import type { Env } from '../../base/user-folders.ts';
import { openEvidence } from '../../open-evidence.ts';
import type { Requester } from '../access/tokens.ts';
import { makeAgentCard } from './agent-card.ts';
import { AGENT_CONTEXT_KEY, loadA2aSdk } from './load-a2a-sdk.ts';
import { RunExecutor, type RunKeyByTask } from './run-executor.ts';
import { RunTaskStore } from './task-store.ts';

/** Serves the A2A protocol for a node of the agency. */
export interface A2aHandler {
  /** The card of one agent, or of the node if `agent` is null, as JSON. */
  card(base: string, agent: string | null): Response;
  /** Answers one JSON-RPC call, with one document or with a stream of events. */
  call(call: {
    readonly body: Record<string, unknown>;
    readonly who: Requester;
    readonly agent: string | null;
    /** The value of the header `A2A-Version`. */
    readonly version: string | undefined;
  }): Promise<Response>;
  close(): Promise<void>;
}

interface A2aOptions {
  readonly env: Env;
  readonly agency: AgencyNode;
  /** The agency folder: the tasks are in its evidence. */
  readonly folder: string;
  readonly version: string;
}

export async function openA2aHandler({ env, agency, folder, version }: A2aOptions): Promise<A2aHandler> {
  const sdk = await loadA2aSdk();
  const working: RunKeyByTask = new Map();
  const executor = new RunExecutor(agency, working, sdk);
  makeFolders(folder);
  const evidence = openEvidence(folder, env, 'create');
  const tasks = new RunTaskStore(evidence, agency, working, sdk);
  const own = makeAgentCard({ peripherals: {}, agents: {} }, { node: agency.id, version, base: '', agent: null });
  const rpc = new sdk.JsonRpcTransportHandler(new sdk.DefaultRequestHandler(own, tasks, executor));
  return {
    card: (base, agent) =>
      Response.json(sdk.AgentCard.toJSON(makeAgentCard(agency.spec(), { node: agency.id, version, base, agent }))),
    async call({ body, who, agent, version }) {
      const context = new sdk.ServerCallContext({
        user: { isAuthenticated: true, userName: who.role === 'node' ? `node ${who.node}` : who.role },
        state: new Map(agent === null ? [] : [[AGENT_CONTEXT_KEY, agent]]),
        requestedVersion: version,
      });
      const failed = (error: unknown) => ({
        jsonrpc: '2.0',
        id: (body['id'] ?? null) as string | number | null,
        error: sdk.JsonRpcTransportHandler.mapToJSONRPCError(error),
      });
      try {
        sdk.validateVersion(context.requestedVersion, own, 'JSONRPC');
        const { message } = fieldsOf(body['params']);
        if (isObject(message) && sdk.Message.fromJSON(message).role !== sdk.Role.ROLE_USER)
          throw new sdk.RequestMalformedError('The role of a message to this node is ROLE_USER.');
        if (requestsPush(body)) throw new sdk.PushNotificationNotSupportedError();
        const answer = await rpc.handle(body, context);
        if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
        const first = await answer.next();
        const events = ReadableStream.from(eventStream(first, answer, failed));
        return new Response(events, { headers: { 'Content-Type': 'text/event-stream' } });
      } catch (error) {
        return Response.json(failed(error));
      }
    },
    close: () => tasks.close(),
  };
}

/** True if a message asks for push notifications, because the library would silently ignore that. */
function requestsPush({ params }: Record<string, unknown>): boolean {
  const { taskPushNotificationConfig, task_push_notification_config } = fieldsOf(fieldsOf(params)['configuration']);
  return (taskPushNotificationConfig ?? task_push_notification_config ?? null) !== null;
}

/** The text of Server-Sent Events. It ends with the error if the stream fails. */
async function* eventStream<T>(
  first: IteratorResult<T, void>,
  rest: AsyncGenerator<T, void>,
  failed: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  try {
    for (let next = first; !next.done; next = await rest.next())
      yield encoder.encode(`data: ${JSON.stringify(next.value)}\n\n`);
  } catch (error) {
    yield encoder.encode(`event: error\ndata: ${JSON.stringify(failed(error))}\n\n`);
  } finally {
    // The library records the states of a task only while its stream is read, also if the client has left.
    void Array.fromAsync(rest).catch(() => {});
  }
}
