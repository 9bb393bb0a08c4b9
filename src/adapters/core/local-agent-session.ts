import { assertArgument, hasMethods } from '../../base/assert-argument.ts';
import { asJson, type Fields, fieldsOf, type Json } from '../../base/json.ts';
import type { Denial } from '../../gate/denial.ts';
import type { Approver } from '../../ports/approver.ts';
import type { Session } from '../../session/session.ts';
import type { AgentAnswer, AgentCall, AgentSession } from './agent-session.ts';
import { listAvailableTools, listControlTools, toAgentTool } from './agent-tools.ts';
import {
  modeChangesBeforeHop,
  readCallArguments,
  readRequestedHop,
  readRequestedMode,
  requestedModeChanges,
} from './calls/control-calls.ts';
import { describeAvailableCalls, describeRefusal } from './describe-refusal.ts';
import { promptSection } from './prompt-section.ts';
import { renderResult } from './render-result.ts';
import { adviseOnSandboxError } from './sandbox-advice.ts';
import { firstHopOfWay, readSituation } from './situation.ts';
import {
  acknowledgeMessages,
  renderMessagesForAgent,
  takeNewMessages,
  takeNewMessagesText,
  unacknowledgedMessageIds,
} from './turn-messages.ts';

/**
 * Wraps a session of this process for adapters.
 * @throws TypeError if `session` is not a session
 * @example
 * const agent = agentSession(await openSession({ root: '.', agent: 'my-agent' }));
 * const { status, text } = await agent.call({ name: 'grep', input: { pattern: 'TODO' } });
 */
export function agentSession(session: Session): AgentSession {
  const isSession = hasMethods(session, 'step', 'hop', 'available');
  assertArgument(isSession, 'agentSession: session', 'a session, as openSession returns it', session);
  let running = 0;
  const call = async (call: AgentCall): Promise<AgentAnswer> => {
    const before = toolNames(session);
    // The agent has read the messages that were shown before this call began, so they are acknowledged below.
    const seen = unacknowledgedMessageIds(session);
    running += 1;
    const answer = await carryOut(session, fieldsOf(call) as Partial<AgentCall> as AgentCall).finally(() => {
      running -= 1;
    });
    // Only the last of several parallel calls returns the messages, because reading the inbox waits for all of them.
    if (running > 0 || call?.messages === false) return { ...answer, toolsChanged: before !== toolNames(session) };
    await acknowledgeMessages(session, seen);
    const messages = await takeNewMessages(session);
    const toolsChanged = before !== toolNames(session);
    if (messages.length === 0) return { ...answer, toolsChanged };
    return { ...answer, text: `${answer.text}\n${renderMessagesForAgent(messages)}`, messages, toolsChanged };
  };
  return {
    id: session.id,
    tools: async () => listAvailableTools(session),
    allTools: async () => [
      ...Object.values(session.specs.tools).map((tool) => toAgentTool(tool, session.specs)),
      ...listControlTools(session.specs),
    ],
    call,
    async wants(call) {
      const { name, input } = fieldsOf(call) as Partial<AgentCall> as AgentCall;
      const fields = readCallArguments(input);
      if (name === 'hop') {
        const modes = await modeChangesBeforeHop(fields, session);
        for (const { from, ...mode } of modes) {
          const request = await session.wants({ mode }, from);
          if (request) return request;
        }
        return session.state.peripheral === null
          ? null
          : session.wants({ hop: readRequestedHop(fields) }, modes.at(-1)?.to);
      }
      if (name === 'mode') return session.wants({ mode: readRequestedMode(fields) });
      return session.tool(name) ? session.wants({ step: { tool: name, args: input ?? {} } }) : null;
    },
    status: async () => ({ ...session.state, available: session.available() }),
    prompt: async (options) => {
      const messages = (options?.messages ?? true) ? await takeNewMessagesText(session) : null;
      return messages === null ? promptSection(session) : `${promptSection(session)}\n${messages}`;
    },
    close: () => session.detach(),
  };
}

type AnswerBeforeTools = Omit<AgentAnswer, 'toolsChanged'>;

async function carryOut(
  session: Session,
  { name, input, signal, approved, ...preset }: AgentCall,
): Promise<AnswerBeforeTools> {
  if (preset.refused !== undefined) return { status: 'refused', text: preset.refused, data: null, denial: null };
  if (preset.answer !== undefined) return { status: 'ok', text: preset.answer, data: null, denial: null };
  const fields = readCallArguments(input);
  const answering = { signal, ...(approved === undefined ? {} : { approver: answeringWith(approved) }) };
  if (name === 'hop') {
    const hop = readRequestedHop(fields);
    const to = 'hop' in hop ? hop.hop : hop.to;
    // A hop without a mode change is queued immediately, so that the model's later calls are judged after it.
    const modes =
      requestedModeChanges(fields, session).length === 0 ? [] : await modeChangesBeforeHop(fields, session, hop);
    for (const { from: _, ...mode } of modes) {
      const changed = await session.setMode(mode, answering);
      if (!changed.ok) return toDenialAnswer(session, changed.denial);
    }
    const moved = session.state.peripheral === null ? await session.start(to) : await session.hop(hop, answering);
    if (!moved.ok) return toDenialAnswer(session, moved.denial);
    return arrivalAnswer(session, { to, context: moved.context as Json });
  }
  if (name === 'mode') {
    const changed = await session.setMode(readRequestedMode(fields), answering);
    if (!changed.ok) return toDenialAnswer(session, changed.denial);
    return arrivalAnswer(session, { mode: changed.mode });
  }
  if (name === 'status') {
    const data = asJson({ ...session.state, available: session.available(), situation: readSituation(session) });
    return { status: 'ok', text: promptSection(session), data, denial: null };
  }
  if (name === 'why') {
    const denial = session.why({ tool: fields['tool'] as string, args: fields['args'] ?? {} });
    if (denial) return { ...toDenialAnswer(session, denial), status: 'ok' };
    return { status: 'ok', text: 'The call would be allowed.', data: { allowed: true }, denial: null };
  }
  const { messageId } = preset;
  const result = await session.step({ tool: name, args: input ?? {}, signal, messageId }, answering);
  if (!result.ok) return toDenialAnswer(session, result.denial);
  const data = result.result;
  const advice = adviceOn(session, data, result.error);
  if (result.outcome === 'ok') return { status: 'ok', text: renderResult(data) + advice, data, denial: null };
  const { code, message } = result.error ?? { code: 'failed', message: 'the tool could not do its work' };
  const rendered = data === null ? '' : renderResult(data);
  // The result of a failed MCP call already begins with the message.
  const text = `failed: ${code}: ${rendered.startsWith(message) ? rendered : [message, rendered].filter((each) => each !== '').join('\n')}${advice}`;
  return { status: 'failed', text, data: { code, message, result: data }, denial: null };
}

/** Advice after an error of the sandbox or of git, as a line of its own; empty if there was none. */
function adviceOn(
  session: Session,
  data: Json,
  error: { readonly code: string; readonly message: string } | undefined,
): string {
  const { exit, stderr, stdout, noNetwork } = fieldsOf(data);
  const gitKept = error?.code !== 'git-not-kept';
  if (gitKept && (typeof exit !== 'number' || exit === 0)) return '';
  const advice = adviseOnSandboxError(
    session,
    `${gitKept ? '' : `${error.code}: ${error.message}`}\n${stderr}\n${stdout}\n${noNetwork}`,
  );
  return advice === null ? '' : `\n${advice}`;
}

/** The answer to a successful hop or mode change. It names the tools, because the program's own list may be older. */
function arrivalAnswer(session: Session, data: Fields): AnswerBeforeTools {
  const open = session.available();
  const text = `${describeAvailableCalls(open)}\n${promptSection(session)}`;
  return { status: 'ok', text, data: { ...data, tools: [...open.tools] }, denial: null };
}

/** An approver with one answer that a person has already given. */
const answeringWith = (answer: NonNullable<AgentCall['approved']> | null): Approver => ({
  via: 'approver',
  async approve({ hash }) {
    if (answer === null) return { declined: 'the person who was asked' };
    if ('because' in answer) return { declined: 'the person who was asked', because: answer.because };
    const { by, grant } = answer;
    return hash === answer.hash ? { by, ...(grant ? { grant } : {}) } : null;
  },
});

const toolNames = (session: Session): string => [session.state.peripheral, ...session.available().tools].join(' ');

export const toDenialAnswer = (session: Session, denial: Denial): AnswerBeforeTools => ({
  status: 'refused',
  text: describeRefusal(denial, firstHopOfWay(session, denial)),
  data: asJson(denial),
  denial,
});
