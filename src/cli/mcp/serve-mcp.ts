import manifest from '../../../package.json' with { type: 'json' };
import type { AgentSession } from '../../adapters/core/agent-session.ts';
import { McpHost } from '../../adapters/mcp/mcp-host.ts';
import { serveOverStdio } from '../../adapters/mcp/serve-stdio.ts';
import { toShellWord } from '../../base/text.ts';
import { ConversationFiles } from '../../daemon/conversation-files.ts';
import { remoteAgentSession } from '../../daemon/remote-agent-session.ts';
import type { GrantLimits } from '../../gate/approvals/grant.ts';
import { listPendingRequests } from '../../operator/answer-request.ts';
import { approvalsFolder } from '../../operator/approvals-folder.ts';
import { approverInAdvance, fallbackApprover } from '../../operator/fallback-approver.ts';
import { parseTypedAnswer, toGrantLimits } from '../../operator/grant-terms.ts';
import { storePendingRequest } from '../../operator/pending-approver.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { ensureStateDir, stateDir } from '../../project/state-dir.ts';
import { diffLinesMarkedByScope, readApprovalCard } from '../approve/approval-card.ts';
import { readDiffToApprove } from '../approve/show-request.ts';
import { createWaitingApprover } from '../approve/wait-approval.ts';
import { makeCodexRuleCheck } from '../codex/codex-rules.ts';
import { type Io, printRemark, usageError } from '../io.ts';
import { onTerminationSignal } from '../on-signal.ts';
import { reportError } from '../report-error.ts';
import { resolveRootOption, telemetryFromOption } from '../shared-options.ts';
import { type HttpAddress, isLoopbackHost, parseHttpAddress } from './http-address.ts';
import { MCP_TOKEN_VARIABLE, type McpCommand } from './mcp-command.ts';
import type { AgentSessionOptions } from './open-agent.ts';
import { createSessionReading } from './session-reading.ts';

/** The remark about an invalid line from the client, instead of its schema errors. */
const NO_MESSAGE = 'ignored input that is not a JSON-RPC 2.0 message';

/** Runs `hopgate mcp` until the client disconnects or a signal comes. Errors go to stderr, also with `--json`. */
export async function serveMcp(io: Io, options: McpCommand): Promise<void> {
  try {
    await serve(io, options);
  } catch (error) {
    const quiet = { ...io, stdout: io.stderr };
    reportError(quiet, error);
    io.exitCode = quiet.exitCode;
  }
}

async function serve(io: Io, options: McpCommand): Promise<void> {
  const root = servedRoot(io, options);
  const at = options.http === undefined ? null : listenAddress(options.http, options.allowHost ?? []);
  const session = await (options.attach
    ? remoteAgentSession({ root, agent: options.agent, env: io.env })
    : (await import('./open-agent.ts')).openAgentSession(io, agentOptions(io, root, options)));
  const host = new McpHost({
    session,
    version: manifest.version,
    reading: createSessionReading(io, root, session),
    elicit: options.elicit,
    describes: !options.attach,
    upstreamNames: options.upstreamNames ?? false,
    answeredAhead: answeredAhead(io, root, options),
    ...(options.attach && options.agent === 'claude-code' ? { answerBytes: Number.POSITIVE_INFINITY } : {}),
    ...(options.attach && options.agent === 'codex' ? { userRules: makeCodexRuleCheck(io, root, session) } : {}),
    ...(options.telemetry ? { inTrace: (await import('../../telemetry/index.ts')).inTrace } : {}),
    diff: (request) => formatDiffForClient(io, request, root),
    grantIn,
    readBy: (request) => fileForTerminal(io, root, request),
    answered: (hash) => approvalsFolder(ensureStateDir(root, io.env)).dropPending(hash),
    onError: (error) => printRemark(io, error.name === 'ZodError' ? NO_MESSAGE : error.message),
  });
  try {
    if (at) await serveHttp(io, host, session, root, { at, allowHosts: options.allowHost ?? [] });
    else await serveStdio(io, host, session, root);
  } finally {
    await host.close();
  }
}

/** The repository to serve. With `--attach` it is the one that the hooks' environment names. */
function servedRoot(io: Io, { root, attach }: McpCommand): string {
  if (!attach || root !== '.') return resolveRootOption(io, { root });
  const { HOPGATE_SESSION: session, HOPGATE_ROOT: named, CLAUDE_PROJECT_DIR: folder } = io.env;
  return named && session
    ? resolveRootOption(io, { root: named })
    : resolveRootOption({ ...io, cwd: folder || io.cwd }, { root });
}

const agentOptions = (io: Io, root: string, options: McpCommand): AgentSessionOptions => ({
  root,
  agent: options.agent,
  observe: options.observe ?? false,
  telemetry: telemetryFromOption(options.telemetry),
  unsafeNoSandbox: options.unsafeNoSandbox ?? false,
  approver: approverOf(io, root, options),
  approve: options.approve ?? [],
  session: options.session,
  specs: options.specs,
  peripheral: options.peripheral,
});

async function serveStdio(io: Io, host: McpHost, session: AgentSession, root: string): Promise<void> {
  const serving = serveOverStdio(host, io.stdin, io.stdout);
  const stop = onTerminationSignal(() => void serving.close());
  try {
    await printOpened(io, session, root, null);
    await serving.ended;
  } finally {
    stop();
  }
}

async function serveHttp(
  io: Io,
  host: McpHost,
  session: AgentSession,
  root: string,
  { at, allowHosts }: { readonly at: HttpAddress; readonly allowHosts: readonly string[] },
): Promise<void> {
  const fixedToken = tokenFromEnv(io);
  const stopped = Promise.withResolvers<void>();
  const stop = onTerminationSignal(stopped.resolve);
  try {
    const { serveOverHttp } = await import('../../adapters/mcp/serve-http.ts');
    const serving = await serveOverHttp(host, { ...at, allowHosts, token: fixedToken ?? undefined });
    await printOpened(io, session, root, { url: serving.url, token: fixedToken === null ? serving.token : null });
    await stopped.promise;
    await serving.close();
  } finally {
    stop();
  }
}

/** The token from the environment; null if one must be generated. */
function tokenFromEnv({ env }: Io): string | null {
  const token = env[MCP_TOKEN_VARIABLE] ?? null;
  if (token === null || token.length >= 16) return token;
  throw usageError(`${MCP_TOKEN_VARIABLE} is shorter than 16 characters`, 'Create one with "openssl rand -hex 16".');
}

/** Prints the served session on stderr, because stdout carries the protocol. */
async function printOpened(
  io: Io,
  session: AgentSession,
  root: string,
  http: { readonly url: string; readonly token: string | null } | null,
): Promise<void> {
  const { mode, peripheral, agent } = await session.status();
  if (io.json) {
    io.stderr.write(
      `${JSON.stringify({ type: 'open', session: session.id, agent, root, mode, peripheral, ...http })}\n`,
    );
    return;
  }
  printRemark(
    io,
    `session ${session.id} of ${agent} in ${root}: ${mode ?? 'no mode gate'}, ${peripheral ?? 'outside of any peripheral'}`,
  );
  if (http)
    printRemark(io, `serves ${http.url}${http.token === null ? '' : `, header "Authorization: Bearer ${http.token}"`}`);
  printRemark(io, `continue later: hopgate mcp --session ${session.id} --root ${toShellWord(root)}`);
}

/** Approves requests that the operator approved in advance; other requests wait for "hopgate approve". */
const approverOf = (io: Io, root: string, { approve = [], waitApproval = 0 }: McpCommand) =>
  fallbackApprover(approverInAdvance(approve), createWaitingApprover(io, root, waitApproval));

/** Maximum number of lines of a diff in a client's window. */
const MAX_LINES = 2000;

/** The lines of the change that an approval would ship, formatted for a client's window; null if there is none. */
export async function formatDiffForClient(
  io: Io,
  request: ApprovalRequest,
  root: string,
): Promise<readonly string[] | null> {
  const diff = await readDiffToApprove(request, root);
  if (diff === null) return null;
  const { changedSince, problem } = diff;
  const lines = diffLinesMarkedByScope(diff, await readApprovalCard(io, request, root, diff));
  const hidden = lines.length - MAX_LINES;
  return [
    ...changedSince.map((path) => `(${path} differs from this session's last version)`),
    ...lines.slice(0, MAX_LINES),
    ...(hidden > 0 ? [`(${hidden} more lines are not shown: close this, and "hopgate approve" shows them all)`] : []),
    ...(problem === null ? [] : [`(the diff is incomplete: ${problem})`]),
  ];
}

/** The limits of a grant as a person wrote them in a form: `3x`, `2h tests`. */
function grantIn(text: string, request: ApprovalRequest): GrantLimits | { readonly problem: string } {
  const parsed = parseTypedAnswer(`yes ${text}`);
  if (parsed === null || 'problem' in parsed)
    return { problem: parsed?.problem ?? `"${text}" is not a limit of a grant` };
  return toGrantLimits(parsed.terms ?? {}, request, Date.now());
}

/** Files the request for the operator too. Returns the command that shows it in a terminal; null if it is too large. */
function fileForTerminal(io: Io, root: string, request: ApprovalRequest): string | null {
  const id = storePendingRequest({ stateDir: ensureStateDir(root, io.env), root }, request);
  return id === null ? null : `hopgate approve ${id}`;
}

/** True if the request was approved in advance, or answered elsewhere. The person at the client is then not asked. */
const answeredAhead =
  (io: Io, root: string, { approve = [], attach }: McpCommand) =>
  ({ action, hash, sessionId }: ApprovalRequest): boolean =>
    approve.some((name) => name === 'all' || name === action.to) ||
    (attach === true && new ConversationFiles(root, io.env).isApproved(sessionId, action.to)) ||
    listPendingRequests(stateDir(root, io.env)).some(
      ({ pending, answer }) => pending.request.hash === hash && answer !== null,
    );

function listenAddress(http: string | true, allowHosts: readonly string[]): HttpAddress {
  const at = parseHttpAddress(http);
  if (isLoopbackHost(at.address) || allowHosts.length > 0) return at;
  throw usageError(
    `${at.address} can be reached from other machines`,
    'Serve on 127.0.0.1, or name with --allow-host the names under which it may be reached (and put TLS in front of it).',
  );
}
