import {
  type AgentContext,
  type ClientContext,
  type ContentBlock,
  type HttpHeader,
  type NewSessionResponse,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type SessionConfigOption,
  type SessionUpdate,
  type SetSessionConfigOptionRequest,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { AgentSession } from '../core/agent-session.ts';
import { listSettableOptions, MODE_OPTION_ID, PERIPHERAL_OPTION_ID, readAcpPlace } from './acp-place.ts';
import { AgentRequestGate, callToolOrThrow } from './gated-requests.ts';

/** A session of hopgate, served over MCP to the inner agent. */
export interface SessionOverMcp {
  readonly session: AgentSession;
  readonly mcp: { readonly url: string; readonly headers: HttpHeader[] };
  /** Registers a function that is called after each call of a tool. */
  readonly onCall: (changed: () => void) => void;
  /** Stops the server and releases the session. */
  readonly close: () => Promise<void>;
}

/** The lines that mark the beginning and the end of the situation in a prompt. */
const [BEGIN, END] = ['<hopgate-situation>', '</hopgate-situation>'];

/** Removes hopgate's description of the situation from a text. In a title the description may be cut off. */
export const removeSituationText = (text: string): string =>
  text.replace(new RegExp(`(?<!\\s)\\s*${BEGIN}[^]*?(?:${END}\\s*|$)`, 'g'), '');

interface Parts {
  readonly opened: SessionOverMcp;
  readonly innerId: string;
  readonly inner: ClientContext;
  readonly editor: AgentContext;
  readonly root: string;
}

/** One conversation: its session, the inner agent's id for it, and the place that was last sent to the editor. */
export class AcpSession {
  readonly id: string;
  readonly innerId: string;
  readonly gated: AgentRequestGate;
  readonly #parts: Parts;
  readonly #session: AgentSession;
  #innerOptions: SessionConfigOption[] = [];
  /** The options and the mode last sent to the editor, so that each change is sent once. */
  #sentOptions = '';
  #sentMode: string | null = null;
  #sending: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.innerId = parts.innerId;
    this.#session = parts.opened.session;
    this.id = this.#session.id;
    this.gated = new AgentRequestGate(this.#session, parts.root);
    parts.opened.onCall(() => void this.#sendPlace().catch(() => {}));
  }

  async start(options: NewSessionResponse['configOptions']): Promise<NewSessionResponse> {
    this.#innerOptions = listSettableOptions(options);
    const { modes, configOptions } = await this.#place();
    return { sessionId: this.#session.id, configOptions, ...(modes ? { modes } : {}) };
  }

  /** Sends a prompt, then the situation and new messages: a prompt that begins with a command must come first. */
  async prompt({ prompt }: PromptRequest): Promise<PromptResponse> {
    const situation: ContentBlock = { type: 'text', text: `${BEGIN}\n${await this.#session.prompt()}\n${END}` };
    const answer = await this.#parts.inner.request('session/prompt', {
      sessionId: this.innerId,
      prompt: [...prompt, situation],
    });
    await this.#sendPlace();
    return answer;
  }

  /**
   * Hops to a peripheral that the person at the editor chose.
   * @param by `mode` if the editor set it as the ACP mode; the editor then needs no `current_mode_update`
   */
  async hop(to: string, by: 'mode' | 'option'): Promise<void> {
    const { peripheral } = await this.#session.status();
    if (to !== peripheral) await this.#move('hop', to);
    if (by === 'mode') this.#sentMode = to;
    await this.#sendPlace();
  }

  async setOption(params: SetSessionConfigOptionRequest): Promise<{ configOptions: SessionConfigOption[] }> {
    const { configId, value } = params;
    if (configId === PERIPHERAL_OPTION_ID) await this.hop(String(value), 'option');
    else if (configId === MODE_OPTION_ID) {
      if ((await this.#session.status()).mode !== value) await this.#move('mode', String(value));
    } else if (this.#innerOptions.some(({ id }) => id === configId)) {
      const answer = await this.#parts.inner.request('session/set_config_option', {
        ...params,
        sessionId: this.innerId,
      });
      this.#innerOptions = listSettableOptions(answer.configOptions);
    } else
      throw RequestError.invalidParams({ configId }, `there is no option ${configId}; session/new lists the options`);
    await this.#sendPlace();
    return { configOptions: (await this.#place()).configOptions };
  }

  /** Passes an update of the inner agent to the editor. hopgate's modes and options replace the inner agent's. */
  async forward(update: SessionUpdate): Promise<void> {
    if (update.sessionUpdate === 'current_mode_update') return;
    if (update.sessionUpdate === 'user_message_chunk') return this.#forwardPrompt(update);
    if (update.sessionUpdate === 'config_option_update') {
      this.#innerOptions = listSettableOptions(update.configOptions);
      return this.#sendPlace();
    }
    const titled = update.sessionUpdate === 'session_info_update' && update.title;
    await this.#notify(titled ? { ...update, title: removeSituationText(titled) } : update);
  }

  /** Shows the person an earlier prompt of theirs, without the situation that hopgate had added to it. */
  async #forwardPrompt(update: Extract<SessionUpdate, { sessionUpdate: 'user_message_chunk' }>): Promise<void> {
    const { content } = update;
    if (content.type !== 'text') return this.#notify(update);
    const text = removeSituationText(content.text);
    if (text !== '') await this.#notify({ ...update, content: { ...content, text } });
  }

  /** Shows the person that a call of the inner agent's own tools was refused, and the tools to use. */
  async showRefused({ toolCallId, title }: ToolCallUpdate): Promise<void> {
    const names = (await this.#session.tools()).map(({ name }) => name).join(', ');
    const text = `hopgate refused this tool of the agent, because only hopgate's tools are gated. Available: ${names}`;
    await this.#notify({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      ...(title ? { title } : {}),
      status: 'failed',
      content: [{ type: 'content', content: { type: 'text', text } }],
    });
  }

  async close(): Promise<void> {
    this.gated.close();
    await this.#parts.opened.close();
  }

  async #move(name: 'hop' | 'mode', to: string): Promise<void> {
    const reason = 'the person at the editor chose it';
    await callToolOrThrow(this.#session, name, { to, reason, ...(name === 'mode' ? { summary: reason } : {}) });
  }

  async #place() {
    const { modes, configOptions } = await readAcpPlace(this.#session);
    const place = { modes, configOptions: [...configOptions, ...this.#innerOptions] };
    this.#sentOptions = JSON.stringify(place.configOptions);
    this.#sentMode = modes?.currentModeId ?? null;
    return place;
  }

  /** Sends the session's place to the editor if it has changed. Calls queue, so that each change is sent once. */
  #sendPlace(): Promise<void> {
    const sent = this.#sending.then(() => this.#sendChange());
    this.#sending = sent.catch(() => {});
    return sent;
  }

  async #sendChange(): Promise<void> {
    const [sentOptions, sentMode] = [this.#sentOptions, this.#sentMode];
    const { modes, configOptions } = await this.#place();
    if (modes && modes.currentModeId !== sentMode)
      await this.#notify({ sessionUpdate: 'current_mode_update', currentModeId: modes.currentModeId });
    if (this.#sentOptions !== sentOptions) await this.#notify({ sessionUpdate: 'config_option_update', configOptions });
  }

  #notify(update: SessionUpdate): Promise<void> {
    return this.#parts.editor.notify('session/update', { sessionId: this.#session.id, update });
  }
}
