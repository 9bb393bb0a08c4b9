import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import {
  type CreateTerminalRequest,
  type ReadTextFileRequest,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type TerminalOutputResponse,
  type WriteTextFileRequest,
} from '@agentclientprotocol/sdk';
import { isObject } from '../../base/json.ts';
import { isPathWithin } from '../../base/paths.ts';
import { errorText, toShellWord } from '../../base/text.ts';
import type { AgentAnswer, AgentSession } from '../core/agent-session.ts';

/** The tools that run a terminal's command, in the order of preference. */
const SHELLS = ['bash', 'bash-readonly', 'bash-test'];

interface Terminal {
  readonly ended: Promise<{ readonly output: string; readonly exitCode: number }>;
  readonly stop: AbortController;
  state: { readonly output: string; readonly exitCode: number } | null;
}

/** Answers the inner agent's requests for files, terminals and permissions by calls of the session, which decides. */
export class AgentRequestGate {
  readonly #session: AgentSession;
  readonly #root: string;
  readonly #terminals = new Map<string, Terminal>();

  constructor(session: AgentSession, root: string) {
    this.#session = session;
    this.#root = root;
  }

  /** Reads a whole file by the tool `read`, page by page: an agent that writes back only a part would lose the rest. */
  async read({ path, line, limit }: ReadTextFileRequest): Promise<{ content: string }> {
    let [content, offset] = ['', Math.max(line ?? 1, 1)];
    const end = offset + (limit ?? Number.MAX_SAFE_INTEGER - offset);
    while (offset < end) {
      const input = { path: this.#pathForTool(path), offset, ...(limit ? { limit: end - offset } : {}) };
      const { data, text } = await callToolOrThrow(this.#session, 'read', input);
      const { text: part, to, lines, truncated } = isObject(data) ? data : {};
      if (typeof part !== 'string' || typeof to !== 'number' || typeof lines !== 'number')
        throw RequestError.internalError(undefined, text);
      if (truncated === true && !part.endsWith('\n'))
        throw RequestError.invalidParams({ path }, `line ${to} of ${path} is too long for one call of read`);
      content += part;
      if (truncated !== true) break;
      offset = to + 1;
    }
    return { content };
  }

  async write({ path, content }: WriteTextFileRequest): Promise<Record<string, never>> {
    await callToolOrThrow(this.#session, 'write', { path: this.#pathForTool(path), content });
    return {};
  }

  /** Starts a command with the first shell tool that is available. Throws immediately if the gate refuses it. */
  async createTerminal({ command, args = [] }: CreateTerminalRequest): Promise<{ terminalId: string }> {
    const tools = new Set((await this.#session.tools()).map(({ name }) => name));
    const name = SHELLS.find((shell) => tools.has(shell)) ?? SHELLS[0]!;
    const line = [command, ...args.map(toShellWord)].join(' ');
    const stop = new AbortController();
    const running = this.#session.call({ name, input: { command: line }, signal: stop.signal });
    const terminalId = `terminal-${randomUUID()}`;
    const ended = running.then(
      ({ status, text, data }) => ({
        output: text,
        exitCode: isObject(data) && typeof data['exit'] === 'number' ? data['exit'] : status === 'ok' ? 0 : 126,
      }),
      (error: unknown) => ({ output: errorText(error), exitCode: 126 }),
    );
    const terminal: Terminal = { ended, stop, state: null };
    void ended.then((state) => {
      terminal.state = state;
    });
    this.#terminals.set(terminalId, terminal);
    return { terminalId };
  }

  terminalOutput(id: string): TerminalOutputResponse {
    const { state } = this.#terminal(id);
    return { output: state?.output ?? '', truncated: false, exitStatus: state && { exitCode: state.exitCode } };
  }

  async waitForTerminal(id: string): Promise<{ exitCode: number }> {
    return { exitCode: (await this.#terminal(id).ended).exitCode };
  }

  killTerminal(id: string): Record<string, never> {
    this.#terminal(id).stop.abort();
    return {};
  }

  releaseTerminal(id: string): Record<string, never> {
    this.killTerminal(id);
    this.#terminals.delete(id);
    return {};
  }

  close(): void {
    for (const { stop } of this.#terminals.values()) stop.abort();
  }

  #terminal(id: string): Terminal {
    const terminal = this.#terminals.get(id);
    if (terminal) return terminal;
    throw RequestError.invalidParams({ terminalId: id }, `there is no terminal ${id}`);
  }

  #pathForTool(path: string): string {
    return isPathWithin(this.#root, path) ? relative(this.#root, path) || '.' : path;
  }
}

/** Carries out a call of the session. @throws RequestError with the text of a failure or a refusal */
export async function callToolOrThrow(session: AgentSession, name: string, input: object): Promise<AgentAnswer> {
  const answer = await session.call({ name, input });
  if (answer.status === 'ok') return answer;
  throw RequestError.invalidParams({ code: answer.denial?.code ?? 'failed', text: answer.text }, answer.text);
}

/**
 * Answers a permission request of the inner agent: yes for a call of hopgate's MCP server, which decides the call
 * again, and no for every other tool. The whole title or tool name must match, because a model can write a part of a
 * title.
 * @param server the name of hopgate's MCP server, a name that no repository can guess
 */
export function answerPermissionRequest(request: RequestPermissionRequest, server: string): RequestPermissionResponse {
  const preferredKinds = isForHopgateTool(request, server)
    ? ['allow_once', 'allow_always']
    : ['reject_once', 'reject_always'];
  const option = preferredKinds.map((kind) => request.options.find((each) => each.kind === kind)).find(Boolean);
  return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
}

export const isForHopgateTool = (request: RequestPermissionRequest, server: string): boolean =>
  namesOf(request.toolCall).some((name) => isToolOf(server, name));

function namesOf({ name, title, _meta }: RequestPermissionRequest['toolCall']): readonly string[] {
  const claude = _meta?.['claudeCode'];
  const named = isObject(claude) ? claude['toolName'] : undefined;
  return typeof named === 'string' ? [named] : [name, title].filter((each) => typeof each === 'string');
}

const isToolOf = (server: string, name: string): boolean =>
  new RegExp(`^(?:mcp__)?${server}(?:__|[./:])[a-z][a-z0-9-]*$`).test(name);
