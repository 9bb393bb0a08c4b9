import { getOrInsert } from '../../base/get-or-insert.ts';
import { rejectOnAbort } from '../../base/limited-wait.ts';
import { errorText } from '../../base/text.ts';
import type { CallEnvelope, ToolBackend, ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { getOwn } from '../../spec/names.ts';
import type { ToolSpec, UpstreamServer, UpstreamTool } from '../../spec/types.ts';
import { ABORTED_OUTCOME } from '../tool-outcomes.ts';
import { defaultAnchors } from '../workspace/anchors.ts';
import { failedToolStop, isStop, type ToolStop } from '../workspace/tool-stop.ts';
import { cutUpstreamResult, textOfUpstreamResult, type UpstreamResult } from './cut-upstream-result.ts';
import { hashListedTool, type ListedTool } from './listed-tool.ts';
import { effectsSince, readNamedFiles, readPathStates } from './observe-paths.ts';
import { type PreparedArguments, prepareArguments } from './prepare-arguments.ts';
import { readReportedFields } from './read-reported-fields.ts';
import { removeControlCharacters } from './stderr-tail.ts';
import { type ConnectionParts, UpstreamConnection, UpstreamDownError } from './upstream-connection.ts';
import { findWritableProgram } from './writable-program.ts';

type BoundTool = ToolSpec & { readonly upstream: UpstreamTool };

interface UpstreamOptions extends Partial<Omit<ConnectionParts, 'root'>> {
  /** The catalogue; the backend serves the tools that name an upstream. */
  readonly tools: { readonly [id: string]: ToolSpec };
}

/**
 * Serves tools of MCP servers (`upstream` in tools.yaml and hopgate.yaml). The spec decides: a tool that it does not
 * name does not exist, the model sees the spec's description, and the roles bind the arguments. Servers run outside the
 * sandbox, so the effects of an acting tool count as unobserved; the files named in its arguments are compared, and the
 * result's `changed` names those that differ.
 */
export function upstreamBackend(options: UpstreamOptions): ToolBackend {
  const { env = process.env, clock = { now: () => Date.now() }, random = Math.random, version = '0' } = options;
  const bound = Object.values(options.tools).filter((tool): tool is BoundTool => tool.upstream !== undefined);
  const tools = new Map(bound.map((tool) => [tool.id, tool]));
  const connections = new Map<string, UpstreamConnection>();
  /** The hash of each tool's description at its first use, by tool id. */
  const seen = new Map<string, string>();
  const anchors = defaultAnchors();

  const connectionTo = (name: string, server: UpstreamServer, { root }: CallEnvelope): UpstreamConnection => {
    return getOrInsert(
      connections,
      name,
      () => new UpstreamConnection(name, server, { root, env, clock, random, version }),
    );
  };

  const run = async (call: ToolCall): Promise<ToolReport | ToolStop> => {
    const tool = tools.get(call.tool.id);
    if (!tool) throw new Error(`[tools/upstream] serves no tool "${call.tool.id}"`);
    if (call.signal.aborted) return { stop: ABORTED_OUTCOME };
    const { server: name } = tool.upstream;
    const server = getOwn(call.envelope.config.upstream ?? {}, name);
    if (!server)
      return failedToolStop(
        'upstream-unknown',
        `No upstream "${name}" is configured; ask the operator to name it under upstream in hopgate.yaml and to trust the file ("hopgate trust").`,
      );
    const writable = findWritableProgram(server, call.envelope.root, call.envelope.config.scopes);
    if (writable)
      return failedToolStop(
        'upstream-writable',
        `The upstream "${name}" is not started: agents may write ${writable}, which it runs outside of the sandbox; ask the operator to move that file.`,
      );
    const prepared = await prepareArguments(call, tool, anchors);
    if (isStop(prepared)) return prepared;
    const connection = connectionTo(name, server, call.envelope);
    const listed = await rejectOnAbort(connection.tools(), call.signal);
    const changed = changedTool(tool, listed.get(tool.upstream.tool), seen);
    if (changed) return changed;
    if (call.signal.aborted) return { stop: ABORTED_OUTCOME };
    return callServer(call, tool, prepared, connection);
  };

  const callServer = async (
    call: ToolCall,
    { upstream }: BoundTool,
    { args, paths }: PreparedArguments,
    connection: UpstreamConnection,
  ): Promise<ToolReport> => {
    const { root } = call.envelope;
    const { seconds, outputBytes } = call.tool.limits;
    const written = paths.filter(({ access }) => access === 'write');
    const before = readPathStates(root, written, anchors);
    const reads = paths.flatMap(({ real, access, kind }) =>
      access === 'read' && kind === 'file' ? [{ path: real.join('/'), op: 'read' as const }] : [],
    );
    const effects = call.tool.effect === 'act' ? 'unobserved' : reads;
    const { clean } = connection;
    try {
      const answer = await connection.call(upstream.tool, args, { seconds, signal: call.signal });
      const result = withChanges(cutUpstreamResult(answer, outputBytes, clean));
      const { structuredContent } = cutUpstreamResult(answer, Number.POSITIVE_INFINITY, clean);
      const reported = readReportedFields(call.tool, structuredContent);
      if (answer.isError !== true) return { outcome: { status: 'ok', result }, effects, ...reported };
      const message =
        removeControlCharacters(textOfUpstreamResult(result)).trim().slice(0, SHOWN) || 'the server gave no message';
      return { outcome: { status: 'failed', code: 'upstream-error', message, result }, effects, ...reported };
    } catch (error) {
      const { stop } = await outcomeWithoutAnswer(error, call, upstream, connection);
      const result = withChanges({ content: [] });
      return { outcome: 'changed' in result && stop.status === 'failed' ? { ...stop, result } : stop, effects };
    }

    function withChanges(result: UpstreamResult): UpstreamResult {
      const changed = effectsSince(before, root, written, anchors);
      return changed.length === 0 ? result : { ...result, changed: [...changed] };
    }
  };

  return {
    name: 'upstream',
    tools: [...tools.keys()],
    async run(call) {
      const result = await run(call).catch((error: unknown) => failedBeforeSending(error, call.signal));
      return isStop(result) ? { outcome: result.stop, effects: [] } : result;
    },
    boundFiles: async (call) => readNamedFiles(call, anchors),
    async close() {
      await Promise.all([...connections.values()].map((connection) => connection.close()));
    },
  };
}

const SHOWN = 2000;

/** The result of a call that failed before it was sent. Throws any other error. */
function failedBeforeSending(error: unknown, signal: AbortSignal): ToolStop {
  if (error instanceof UpstreamDownError) return failedToolStop('upstream-down', error.message);
  if (signal.aborted && error === signal.reason) return { stop: ABORTED_OUTCOME };
  throw error;
}

/** Explains why a listed tool differs from the spec's; null if it does not. */
function changedTool(
  { id, upstream }: BoundTool,
  listed: ListedTool | undefined,
  seen: Map<string, string>,
): ToolStop | null {
  const { server, tool, schemaHash } = upstream;
  if (!listed)
    return failedToolStop(
      'upstream-tool-missing',
      `The upstream "${server}" has no tool "${tool}" any more, and ${id} needs it; ask the operator to run "hopgate upstream list".`,
    );
  const hash = hashListedTool(listed);
  const expected = schemaHash ?? seen.get(id) ?? hash;
  seen.set(id, expected);
  if (hash === expected) return null;
  return failedToolStop(
    'upstream-tool-changed',
    `The upstream "${server}" has changed its tool "${tool}" since schema-hash was set in tools.yaml, so ${id} is not called; ask the operator to review the tool with "hopgate upstream import ${server}" and to set the new schema-hash.`,
  );
}

/** Outcome of a call that was sent and got no answer. */
async function outcomeWithoutAnswer(
  error: unknown,
  { signal, tool }: ToolCall,
  { server, tool: name }: UpstreamTool,
  connection: UpstreamConnection,
): Promise<ToolStop> {
  if (error instanceof UpstreamDownError) return failedToolStop('upstream-down', error.message);
  if (signal.aborted) {
    await connection.probe();
    return failedToolStop('aborted', 'The call was aborted; its effects until then are unknown.');
  }
  const { SdkError, SdkErrorCode } = await import('@modelcontextprotocol/client');
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    await connection.probe();
    return failedToolStop(
      'time-limit',
      `"${name}" of the upstream "${server}" did not answer within ${tool.limits.seconds} s and was cancelled; its effects until then are unknown.`,
    );
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return failedToolStop(
      'upstream-protocol',
      `The upstream "${server}" answered the call of "${name}" with something that is not a result of MCP; the answer is lost, and the effects of the call are unknown.`,
    );
  const message = connection.clean(removeControlCharacters(errorText(error))).slice(0, SHOWN);
  return failedToolStop('upstream-protocol', `The upstream "${server}" did not run the call: ${message}`);
}
