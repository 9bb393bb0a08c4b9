import {
  type AgentContext,
  agent,
  type ClientConnection,
  client,
  type InitializeRequest,
  type McpServerHttp,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
  type SessionNotification,
  type Stream,
} from '@agentclientprotocol/sdk';
import { isWithin } from '../../base/paths.ts';
import { AcpSession, type OpenedSession } from './acp-session.ts';
import { answerPermission, isOwnCall } from './gated-requests.ts';

export interface AcpOptions {
  readonly editor: Stream;
  readonly inner: Stream;
  /** Absolute real path of the repository. A session's folder must be within it. */
  readonly root: string;
  /** The version of hopgate that the editor shows. */
  readonly version: string;
  /** The name of hopgate's MCP server for the inner agent; no repository may know it. */
  readonly server: string;
  /**
   * Opens a session of hopgate and its MCP server.
   *
   * @param editor where to ask for approvals
   */
  readonly open: (editor: AgentContext) => Promise<OpenedSession>;
  /** Called with one line for the operator. */
  readonly note: (text: string) => void;
}

/**
 * Connects an editor with an inner agent, as an ACP agent to the one and an ACP client to the other. The inner agent
 * gets hopgate's MCP server; its requests for files and terminals become calls of the session. Resolves when one of the
 * connections has ended.
 */
export async function bridgeAcp(options: AcpOptions): Promise<void> {
  const bridge = new Bridge(options);
  await bridge.serve();
}

class Bridge {
  readonly #options: AcpOptions;
  /** By the id that the editor knows, which is hopgate's. */
  readonly #sessions = new Map<string, AcpSession>();
  #inner!: ClientConnection;
  #hasHttp = false;

  constructor(options: AcpOptions) {
    this.#options = options;
  }

  async serve(): Promise<void> {
    const { editor, inner } = this.#options;
    this.#inner = this.#client().connect(inner);
    const outer = this.#agent().connect(editor);
    await Promise.race([outer.closed, this.#inner.closed]);
    outer.close();
    this.#inner.close();
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  /** hopgate as the editor sees it. */
  #agent() {
    const agentOf = (): ClientConnection['agent'] => this.#inner.agent;
    return agent({ name: 'hopgate' })
      .onRequest('initialize', ({ params }) => this.#initialize(params))
      .onRequest('authenticate', ({ params }) => agentOf().request('authenticate', params))
      .onRequest('session/new', ({ params, client }) => this.#new(params, client))
      .onRequest('session/prompt', ({ params }) => this.#session(params.sessionId).prompt(params))
      .onRequest('session/set_mode', async ({ params }) => {
        await this.#session(params.sessionId).hop(params.modeId, 'mode');
        return {};
      })
      .onRequest('session/set_config_option', ({ params }) => this.#session(params.sessionId).setOption(params))
      .onNotification('session/cancel', ({ params }) => {
        const { innerId } = this.#session(params.sessionId);
        return agentOf().notify('session/cancel', { sessionId: innerId });
      });
  }

  /** hopgate as the inner agent sees it. */
  #client() {
    return client({ name: 'hopgate' })
      .onNotification('session/update', ({ params }) => this.#update(params))
      .onRequest('session/request_permission', async ({ params }) => {
        const { server } = this.#options;
        if (!isOwnCall(params, server)) await this.#of(params.sessionId).showRefused(params.toolCall);
        return answerPermission(params, server);
      })
      .onRequest('fs/read_text_file', ({ params }) => this.#of(params.sessionId).gated.read(params))
      .onRequest('fs/write_text_file', ({ params }) => this.#of(params.sessionId).gated.write(params))
      .onRequest('terminal/create', ({ params }) => this.#of(params.sessionId).gated.createTerminal(params))
      .onRequest('terminal/output', ({ params }) => this.#of(params.sessionId).gated.terminalOutput(params.terminalId))
      .onRequest('terminal/wait_for_exit', ({ params }) =>
        this.#of(params.sessionId).gated.waitForTerminal(params.terminalId),
      )
      .onRequest('terminal/kill', ({ params }) => this.#of(params.sessionId).gated.killTerminal(params.terminalId))
      .onRequest('terminal/release', ({ params }) =>
        this.#of(params.sessionId).gated.releaseTerminal(params.terminalId),
      );
  }

  async #initialize({ clientInfo }: InitializeRequest) {
    const { version } = this.#options;
    const told = await this.#inner.agent.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      clientInfo: clientInfo ?? { name: 'hopgate', version },
    });
    const { promptCapabilities, mcpCapabilities } = told.agentCapabilities ?? {};
    this.#hasHttp = mcpCapabilities?.http === true;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: { loadSession: false, ...(promptCapabilities ? { promptCapabilities } : {}) },
      agentInfo: { name: 'hopgate', title: `${told.agentInfo?.title ?? 'Agent'} in hopgate`, version },
      ...(told.authMethods ? { authMethods: told.authMethods } : {}),
    };
  }

  async #new({ cwd, mcpServers }: NewSessionRequest, editor: AgentContext) {
    const { root, server, open, note } = this.#options;
    if (!isWithin(root, cwd))
      throw RequestError.invalidParams(
        { cwd, root },
        `${cwd} is outside of ${root}; start the agent with "hopgate acp --root ${cwd} -- …"`,
      );
    if (!this.#hasHttp)
      throw RequestError.invalidParams(
        undefined,
        'the inner agent cannot use MCP servers over HTTP, so hopgate cannot give it tools; use another agent',
      );
    if (mcpServers.length > 0)
      note(`the editor's MCP servers are left out, because their calls would not be gated; see "hopgate upstream"`);
    const opened = await open(editor);
    try {
      const own: McpServerHttp & { type: 'http' } = { type: 'http', name: server, ...opened.mcp };
      const { sessionId, configOptions } = await this.#inner.agent.request('session/new', {
        cwd,
        mcpServers: [own],
        // claude-agent-acp starts Claude Code without its own tools, and lets it call ours in each of its permission
        // modes; other agents ignore the field.
        _meta: { claudeCode: { options: { tools: [], allowedTools: [`mcp__${server}`], strictMcpConfig: true } } },
      });
      const session = new AcpSession({ opened, innerId: sessionId, inner: this.#inner.agent, editor, root });
      this.#sessions.set(opened.session.id, session);
      return await session.start(configOptions);
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  async #update({ sessionId, update }: SessionNotification): Promise<void> {
    const session = [...this.#sessions.values()].find(({ innerId }) => innerId === sessionId);
    await session?.forward(update);
  }

  #session(id: string): AcpSession {
    const found = this.#sessions.get(id);
    if (found) return found;
    throw RequestError.invalidParams({ sessionId: id }, `there is no session ${id}`);
  }

  #of(innerId: string): AcpSession {
    const found = [...this.#sessions.values()].find((session) => session.innerId === innerId);
    if (found) return found;
    throw RequestError.invalidParams({ sessionId: innerId }, `there is no session ${innerId}`);
  }
}
