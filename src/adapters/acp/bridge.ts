import {
  type AgentContext,
  agent,
  type ClientConnection,
  client,
  type InitializeRequest,
  type ListSessionsResponse,
  type LoadSessionRequest,
  type LoadSessionResponse,
  type McpServer,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
  type ResumeSessionRequest,
  type SessionNotification,
  type Stream,
} from '@agentclientprotocol/sdk';
import { isPathWithin } from '../../base/paths.ts';
import { errorText } from '../../base/text.ts';
import { AcpSession, removeSituationText, type SessionOverMcp } from './acp-session.ts';
import { answerPermissionRequest, isForHopgateTool } from './gated-requests.ts';

/** A conversation of the inner agent, stored under the id of hopgate's session. */
export interface AcpConversation {
  readonly session: string;
  /** The inner agent's id of the conversation. */
  readonly inner: string;
  readonly cwd: string;
}

/** The conversations that an editor can continue, also after a restart. */
export interface AcpConversations {
  keep(conversation: AcpConversation): void;
  /** The conversations whose session is open, newest first, with the ISO 8601 time of the last update. */
  list(): Promise<readonly (AcpConversation & { readonly updatedAt: string; readonly name: string | null })[]>;
}

interface AcpOptions {
  readonly editor: Stream;
  readonly inner: Stream;
  /** Absolute real path of the repository. A session's folder must be within it. */
  readonly root: string;
  readonly version: string;
  /** The inner agent's name for hopgate's MCP server. It is secret, so that no repository can configure it. */
  readonly server: string;
  /**
   * Opens a session of hopgate and its MCP server.
   * @param editor where to ask for approvals
   * @param session the id of a session to continue; without it, a new session is opened
   */
  readonly open: (editor: AgentContext, session?: string) => Promise<SessionOverMcp>;
  readonly conversations: AcpConversations;
  /** Called with one line for the operator. */
  readonly note: (text: string) => void;
}

/**
 * Connects an editor with an inner agent: it is an ACP agent for the editor and an ACP client for the inner agent. The
 * inner agent gets hopgate's MCP server; its requests for files and terminals become calls of the session. Resolves
 * when one of the connections has ended.
 */
export const bridgeAcp = (options: AcpOptions): Promise<void> => new Bridge(options).serve();

class Bridge {
  readonly #options: AcpOptions;
  /** The conversations by session id, which is the id that the editor knows. */
  readonly #sessions = new Map<string, AcpSession>();
  #inner!: ClientConnection;
  /** The inner agent's optional capabilities that the bridge uses. */
  #innerCan = { http: false, load: false, resume: false, list: false, close: false };

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

  /** Builds the ACP agent that the editor connects to. */
  #agent() {
    const agentOf = (): ClientConnection['agent'] => this.#inner.agent;
    return agent({ name: 'hopgate' })
      .onRequest('initialize', ({ params }) => this.#initialize(params))
      .onRequest('authenticate', ({ params }) => agentOf().request('authenticate', params))
      .onRequest('session/new', ({ params, client }) => this.#new(params, client))
      .onRequest('session/load', ({ params, client }) => this.#continue('session/load', params, client))
      .onRequest('session/resume', ({ params, client }) => this.#continue('session/resume', params, client))
      .onRequest('session/list', ({ params }) => this.#list(params.cwd))
      .onRequest('session/close', async ({ params }) => {
        await this.#close(this.#session(params.sessionId));
        return {};
      })
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

  /** Builds the ACP client that the inner agent connects to. */
  #client() {
    const gatedOf = ({ sessionId }: { readonly sessionId: string }) => this.#sessionOfInner(sessionId).gated;
    return client({ name: 'hopgate' })
      .onNotification('session/update', ({ params }) => this.#update(params))
      .onRequest('session/request_permission', async ({ params }) => {
        const { server } = this.#options;
        if (!isForHopgateTool(params, server))
          await this.#sessionOfInner(params.sessionId).showRefused(params.toolCall);
        return answerPermissionRequest(params, server);
      })
      .onRequest('fs/read_text_file', ({ params }) => gatedOf(params).read(params))
      .onRequest('fs/write_text_file', ({ params }) => gatedOf(params).write(params))
      .onRequest('terminal/create', ({ params }) => gatedOf(params).createTerminal(params))
      .onRequest('terminal/output', ({ params }) => gatedOf(params).terminalOutput(params.terminalId))
      .onRequest('terminal/wait_for_exit', ({ params }) => gatedOf(params).waitForTerminal(params.terminalId))
      .onRequest('terminal/kill', ({ params }) => gatedOf(params).killTerminal(params.terminalId))
      .onRequest('terminal/release', ({ params }) => gatedOf(params).releaseTerminal(params.terminalId));
  }

  async #initialize({ clientInfo }: InitializeRequest) {
    const { version } = this.#options;
    const initialized = await this.#inner.agent.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      clientInfo: clientInfo ?? { name: 'hopgate', version },
    });
    const { promptCapabilities, mcpCapabilities, loadSession, sessionCapabilities } =
      initialized.agentCapabilities ?? {};
    this.#innerCan = {
      http: mcpCapabilities?.http === true,
      load: loadSession === true,
      resume: sessionCapabilities?.resume != null,
      list: sessionCapabilities?.list != null,
      close: sessionCapabilities?.close != null,
    };
    const { load, resume } = this.#innerCan;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: load,
        sessionCapabilities: { close: {}, ...(resume ? { resume: {} } : {}), ...(load || resume ? { list: {} } : {}) },
        ...(promptCapabilities ? { promptCapabilities } : {}),
      },
      agentInfo: { name: 'hopgate', title: `${initialized.agentInfo?.title ?? 'Agent'} in hopgate`, version },
      ...(initialized.authMethods ? { authMethods: initialized.authMethods } : {}),
    };
  }

  async #new(params: NewSessionRequest, editor: AgentContext) {
    const opened = await this.#open(params, editor);
    try {
      const started = await this.#inner.agent.request('session/new', this.#forInner(params.cwd, opened));
      const session = this.#add(opened, started.sessionId, editor);
      this.#options.conversations.keep({ session: opened.session.id, inner: started.sessionId, cwd: params.cwd });
      return await session.start(started.configOptions);
    } catch (error) {
      await this.#drop(opened);
      throw error;
    }
  }

  /** Continues a conversation in its session. The inner agent repeats the messages after `session/load`. */
  async #continue(
    method: 'session/load' | 'session/resume',
    params: LoadSessionRequest | ResumeSessionRequest,
    editor: AgentContext,
  ): Promise<LoadSessionResponse> {
    const { sessionId, cwd } = params;
    const stored = (await this.#options.conversations.list()).find(({ session }) => session === sessionId);
    if (!stored)
      throw RequestError.invalidParams(
        { sessionId },
        `this agent has no open conversation ${sessionId}; session/list names those that can be continued`,
      );
    const before = this.#sessions.get(sessionId);
    if (before) await this.#close(before);
    const opened = await this.#open(params, editor, sessionId);
    const session = this.#add(opened, stored.inner, editor);
    try {
      const innerRequest = { ...this.#forInner(cwd, opened), sessionId: stored.inner };
      const { agent } = this.#inner;
      const { configOptions } = await (method === 'session/load'
        ? agent.request('session/load', innerRequest)
        : agent.request('session/resume', innerRequest));
      const { sessionId: _, ...place } = await session.start(configOptions);
      return place;
    } catch (error) {
      await this.#drop(opened);
      throw error;
    }
  }

  /** The conversations that can be continued, with the titles that the inner agent gives them. */
  async #list(cwd: string | null | undefined): Promise<ListSessionsResponse> {
    const stored = (await this.#options.conversations.list()).filter(
      (conversation) => !cwd || conversation.cwd === cwd,
    );
    // If the inner agent cannot list its conversations, they have no titles.
    const listed = this.#innerCan.list
      ? await this.#inner.agent.request('session/list', cwd ? { cwd } : {}).catch(() => ({ sessions: [] }))
      : { sessions: [] };
    const titles = new Map(
      listed.sessions.map(({ sessionId, title }) => [sessionId, title && removeSituationText(title)]),
    );
    return {
      sessions: stored.map(({ session, inner, cwd, updatedAt, name }) => ({
        sessionId: session,
        cwd,
        updatedAt,
        title: name ?? titles.get(inner) ?? null,
      })),
    };
  }

  /** Opens a session of hopgate for a conversation of the inner agent. */
  async #open(
    { cwd, mcpServers = [] }: { readonly cwd: string; readonly mcpServers?: readonly McpServer[] },
    editor: AgentContext,
    session?: string,
  ): Promise<SessionOverMcp> {
    const { root, open, note } = this.#options;
    if (!isPathWithin(root, cwd))
      throw RequestError.invalidParams(
        { cwd, root },
        `${cwd} is outside of ${root}; start the agent with "hopgate acp --root ${cwd} -- …"`,
      );
    if (!this.#innerCan.http)
      throw RequestError.invalidParams(
        undefined,
        'the inner agent cannot use MCP servers over HTTP, so hopgate cannot give it tools; use another agent',
      );
    if (mcpServers.length > 0)
      note(`the editor's MCP servers are left out, because their calls would not be gated; see "hopgate upstream"`);
    try {
      return await open(editor, session);
    } catch (error) {
      throw RequestError.invalidParams(undefined, errorText(error));
    }
  }

  /** The parameters for the inner agent's conversation. Its only MCP server is hopgate's. */
  #forInner(cwd: string, { mcp }: SessionOverMcp): NewSessionRequest {
    const { server } = this.#options;
    return {
      cwd,
      mcpServers: [{ type: 'http', name: server, ...mcp }],
      // With this field, claude-agent-acp starts Claude Code without its own tools, and allows hopgate's tools in every
      // permission mode. Other agents ignore the field.
      _meta: { claudeCode: { options: { tools: [], allowedTools: [`mcp__${server}`], strictMcpConfig: true } } },
    };
  }

  #add(opened: SessionOverMcp, innerId: string, editor: AgentContext): AcpSession {
    const { root } = this.#options;
    const session = new AcpSession({ opened, innerId, inner: this.#inner.agent, editor, root });
    this.#sessions.set(opened.session.id, session);
    return session;
  }

  async #drop(opened: SessionOverMcp): Promise<void> {
    this.#sessions.delete(opened.session.id);
    await opened.close();
  }

  /** Cancels the inner agent's work in a conversation and releases its session, which stays open. */
  async #close(session: AcpSession): Promise<void> {
    const { agent } = this.#inner;
    await agent.notify('session/cancel', { sessionId: session.innerId });
    if (this.#innerCan.close) await agent.request('session/close', { sessionId: session.innerId });
    this.#sessions.delete(session.id);
    await session.close();
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

  #sessionOfInner(innerId: string): AcpSession {
    const found = [...this.#sessions.values()].find((session) => session.innerId === innerId);
    if (found) return found;
    throw RequestError.invalidParams({ sessionId: innerId }, `there is no session ${innerId}`);
  }
}
