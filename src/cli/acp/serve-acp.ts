import { Readable, Writable } from 'node:stream';
import { type AgentContext, ndJsonStream } from '@agentclientprotocol/sdk';
import manifest from '../../../package.json' with { type: 'json' };
import type { SessionOverMcp } from '../../adapters/acp/acp-session.ts';
import { askPermission } from '../../adapters/acp/ask-permission.ts';
import { bridgeAcp } from '../../adapters/acp/bridge.ts';
import { McpHost } from '../../adapters/mcp/mcp-host.ts';
import { mcpServerName } from '../../daemon/mcp-server-name.ts';
import { approverInAdvance, fallbackApprover } from '../../operator/fallback-approver.ts';
import { askHereOrElsewhere } from '../../operator/pending-approver.ts';
import { ensureStateDir } from '../../project/state-dir.ts';
import { type Io, printRemark } from '../io.ts';
import type { McpCommand } from '../mcp/mcp-command.ts';
import { openAgentSession } from '../mcp/open-agent.ts';
import { formatDiffForClient } from '../mcp/serve-mcp.ts';
import { createSessionReading } from '../mcp/session-reading.ts';
import { resolveRootOption } from '../shared-options.ts';
import { createAcpConversations } from './acp-conversations.ts';
import { startInnerAgent } from './inner-agent.ts';

type AcpCommand = Pick<McpCommand, 'root' | 'agent' | 'peripheral' | 'specs' | 'approve' | 'unsafeNoSandbox'>;

/** Runs `hopgate acp`: serves an editor on stdin and stdout until the editor or the ACP agent ends. */
export async function serveAcp(io: Io, options: AcpCommand, command: readonly string[]): Promise<void> {
  const root = resolveRootOption(io, options);
  const child = await startInnerAgent(io, { root, command, unsafeNoSandbox: options.unsafeNoSandbox ?? false });
  child.on('error', (error) => printRemark(io, `the ACP agent does not run: ${error.message}`));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    await bridgeAcp({
      root,
      version: manifest.version,
      server: mcpServerName(io.env),
      editor: streamOf(io.stdout, io.stdin),
      inner: streamOf(child.stdin!, child.stdout!),
      open: (editor, session) => openServed(io, root, options, editor, session),
      conversations: createAcpConversations(io, root, command),
      note: (text) => printRemark(io, text),
    });
  } finally {
    child.stdin!.end();
    child.kill();
    await ended;
  }
  if (child.exitCode !== null && child.exitCode !== 0) {
    printRemark(io, `the ACP agent ended with status ${child.exitCode}`);
    io.exitCode = 1;
  }
}

async function openServed(
  io: Io,
  root: string,
  options: AcpCommand,
  editor: AgentContext,
  continued?: string,
): Promise<SessionOverMcp> {
  const stateDir = ensureStateDir(root, io.env);
  const inEditor = askHereOrElsewhere('approver', { stateDir, root }, async (request, signal) => {
    const diff = await formatDiffForClient(io, request, root);
    return askPermission(editor, request.sessionId, request, { diff }, signal).catch((error: Error) => {
      if (!signal.aborted) printRemark(io, `the editor could not ask for the approval: ${error.message}`);
      return false;
    });
  });
  const session = await openAgentSession(io, {
    root,
    agent: options.agent,
    observe: false,
    telemetry: false,
    unsafeNoSandbox: options.unsafeNoSandbox ?? false,
    approver: fallbackApprover(approverInAdvance(options.approve ?? []), inEditor),
    approve: options.approve ?? [],
    specs: options.specs,
    session: continued,
    peripheral: continued === undefined ? options.peripheral : undefined,
  });
  const host = new McpHost({
    session,
    version: manifest.version,
    reading: createSessionReading(io, root, session),
    elicit: false,
    onError: (error) => printRemark(io, error.message),
  });
  const { serveOverHttp } = await import('../../adapters/mcp/serve-http.ts');
  const serving = await serveOverHttp(host);
  return {
    session,
    mcp: { url: serving.url, headers: [{ name: 'Authorization', value: `Bearer ${serving.token}` }] },
    onCall: (changed) => void host.observe({ toolsChanged: changed, resourceUpdated: changed }),
    close: async () => {
      await serving.close();
      await host.close();
    },
  };
}

const streamOf = (output: NodeJS.WritableStream, input: NodeJS.ReadableStream) =>
  ndJsonStream(
    Writable.toWeb(output as Writable) as WritableStream<Uint8Array>,
    Readable.toWeb(input as Readable) as ReadableStream<Uint8Array>,
  );
