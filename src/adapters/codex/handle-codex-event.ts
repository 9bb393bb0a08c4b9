import { fieldsOf, textOf } from '../../base/json.ts';
import type { Env } from '../../base/user-folders.ts';
import { readClientLog } from '../core/client-log.ts';
import type { ConversationRecord, HookAnswer, HookContext } from '../core/hook-context.ts';
import { collectOperatorNews } from '../core/operator-news.ts';
import { promptSection } from '../core/prompt-section.ts';
import {
  assistantMessageItem,
  deliveredMessageItem,
  transcriptSituation,
  userMessageItem,
} from '../core/transcript/transcript-items.ts';
import { acknowledgeMessages, showMessagesAgain, takeNewMessagesText } from '../core/turn-messages.ts';
import { findUnreviewedWork, makeTurnBeginNote } from '../core/unreviewed-work.ts';
import { type CodexHookEvent, conversationOfCodexEvent, readCodexEvent } from './codex-event.ts';
import { askAgentToReview, codexToolName, explainCodexTools } from './codex-texts.ts';
import { concludeCodexCall, concludeUnreportedCalls } from './conclude-codex-call.ts';
import { decideCodexCall } from './decide-codex-call.ts';

const NO_OUTPUT: HookAnswer = { exit: 0, stdout: '', stderr: '' };

/** A refusal as exit 2 and a reason, which Codex obeys even if it could not read JSON. */
const refuse = (reason: string): HookAnswer => ({ exit: 2, stdout: '', stderr: `${reason.trim() || 'refused'}\n` });

/**
 * Answers one hook event of Codex. Never throws: an error becomes exit 2 with the reason.
 * @param event the parsed JSON of the hook's standard input
 * @param env the hook's environment: `HOPGATE_ROOT` names the repository, `HOPGATE_CODEX_SANDBOX` the sandbox mode that
 *   Codex was started with
 */
export async function handleCodexEvent(event: unknown, host: HookContext, env: Env): Promise<HookAnswer> {
  try {
    const read = readCodexEvent(event);
    return await withNews(read, host, env, await handleEvent(read, host, env));
  } catch (error) {
    // If a second attempt to stop were refused, the agent would never stop.
    if (isStopping(event)) return NO_OUTPUT;
    return refuse(
      `hopgate could not decide: ${(error as Error).message}. Until then, nothing runs; see "hopgate doctor".`,
    );
  }
}

async function handleEvent(event: CodexHookEvent, host: HookContext, env: Env): Promise<HookAnswer> {
  const arrived = await recordArrival(event, host, env);
  const { hook_event_name: name } = event;
  const record = name === 'PostToolUse' ? arrived : await concludeUnreportedCalls(event, host, arrived);
  switch (name) {
    case 'SessionStart':
    case 'SubagentStart':
      return describeSituation(event, host, record, { again: true });
    case 'UserPromptSubmit': {
      const problem = await host.instructionProblem(record, 'codex');
      if (problem) return refuse(`hopgate: ${problem.message}. ${problem.remedy}`);
      const turn = await host.withSession(record, makeTurnBeginNote);
      return describeSituation(event, host, await recordHookEventOf(host, record, event, turn), { again: false });
    }
    case 'PreToolUse': {
      const reason = await decideCodexCall(event, host, record, env);
      return reason === null
        ? NO_OUTPUT
        : refuse(`${joinTexts(reason, await host.withSession(record, takeNewMessagesText))}`);
    }
    case 'PostToolUse':
      return contextAnswer(
        event,
        joinTexts(await concludeCodexCall(event, host, record), await host.withSession(record, takeNewMessagesText)),
      );
    case 'Stop': {
      await host.withSession(record, (session) => acknowledgeMessages(session));
      const recorded = await recordAgentMessages(event, host, record);
      return event.stop_hook_active ? NO_OUTPUT : askForReview(host, recorded);
    }
    case 'SubagentStop':
      await recordAgentMessages(event, host, record);
      return NO_OUTPUT;
    default:
      return event satisfies never;
  }
}

/** Adds a report of the operator's acts to an answer that the model reads, including one that lets the model stop. */
async function withNews(event: CodexHookEvent, host: HookContext, env: Env, answer: HookAnswer): Promise<HookAnswer> {
  const { hook_event_name: name } = event;
  const stops = name === 'Stop' && !event.stop_hook_active;
  if (answer.exit !== 2 && !stops && !EVENTS_WITH_TEXT.includes(name)) return answer;
  const record = await host.conversation(conversationOfCodexEvent(event, env));
  const news = await collectOperatorNews(host, record);
  if (news === null) return answer;
  await recordHookEventOf(host, record, event, news.notes);
  host.recordTranscript(record, userMessageItem('hopgate', news.text, name));
  if (answer.exit === 2) return refuse(`${answer.stderr.trim()}\n\n${news.text}`);
  const reply = answer.stdout === '' ? {} : (JSON.parse(answer.stdout) as EventReply);
  if (stops)
    return { ...NO_OUTPUT, stdout: JSON.stringify({ decision: 'block', reason: appendText(reply.reason, news.text) }) };
  return { ...answer, ...contextAnswer(event, appendText(reply.hookSpecificOutput?.additionalContext, news.text)) };
}

/** Events whose answer can contain text for the model. */
const EVENTS_WITH_TEXT: readonly string[] = ['SessionStart', 'UserPromptSubmit', 'PostToolUse'];

interface EventReply {
  readonly reason?: string;
  readonly hookSpecificOutput?: { readonly additionalContext?: string };
}

const appendText = (before: string | undefined, text: string): string => (before ? `${before}\n\n${text}` : text);

async function recordArrival(event: CodexHookEvent, host: HookContext, env: Env): Promise<ConversationRecord> {
  const record = await host.conversation(conversationOfCodexEvent(event, env));
  const toolUseId = 'tool_use_id' in event ? event.tool_use_id : null;
  return host.recordEvent(record, { name: event.hook_event_name, at: new Date().toISOString(), toolUseId });
}

/** Describes the situation to the model; on a prompt only if the text differs from the last one. */
async function describeSituation(
  event: CodexHookEvent,
  host: HookContext,
  record: ConversationRecord,
  { again }: { readonly again: boolean },
): Promise<HookAnswer> {
  const { text, situation, messages } = await host.withSession(record, async (session) => {
    if (event.hook_event_name === 'SessionStart') showMessagesAgain(session);
    else if (event.hook_event_name === 'UserPromptSubmit') await acknowledgeMessages(session);
    return {
      text: `${promptSection(session, { name: codexToolName(host) })}\n\n${explainCodexTools(host.server)}`,
      situation: transcriptSituation(session),
      messages: await takeNewMessagesText(session),
    };
  });
  if (event.hook_event_name === 'UserPromptSubmit' && event.prompt)
    host.recordTranscript(record, userMessageItem('user', event.prompt, 'prompt'));
  const isUnchanged = !again && record.notes['shown'] === text;
  const news = isUnchanged ? messages : joinTexts(text, messages);
  if (news === null) return NO_OUTPUT;
  host.recordTranscript(record, deliveredMessageItem(news, situation, event.hook_event_name));
  if (isUnchanged) return contextAnswer(event, news);
  // Codex silently skips hooks that it does not trust. The `begun` note proves that the hooks were active at the start.
  if (event.hook_event_name === 'SessionStart') await recordHookEventOf(host, record, event, startNotes(event, record));
  const onDelivered = async () =>
    recordHookEventOf(host, await host.conversation(record.conversation), event, { shown: text });
  return { ...contextAnswer(event, news), onDelivered };
}

/** Joins the texts that are not null; null if there are none. */
const joinTexts = (...texts: readonly (string | null)[]): string | null =>
  texts.filter((each) => each !== null).join('\n') || null;

/** The answer that shows `text` to the model; no output if it is null. */
function contextAnswer({ hook_event_name: hookEventName }: CodexHookEvent, text: string | null): HookAnswer {
  const hookSpecificOutput = { hookEventName, additionalContext: text };
  return text === null ? NO_OUTPUT : { ...NO_OUTPUT, stdout: JSON.stringify({ hookSpecificOutput }) };
}

/** Records the start of a conversation. A resumed log has messages of other sessions, so reading begins at its end. */
const startNotes = (
  { transcript_path: file }: CodexHookEvent,
  { notes }: ConversationRecord,
): ConversationRecord['notes'] => ({
  begun: new Date().toISOString(),
  transcript: file ?? null,
  heard: notes['heard'] ?? assistantMessages(file ?? '').end,
});

/** Asks an agent that leaves work unreviewed, once per conversation, to review it. */
async function askForReview(host: HookContext, record: ConversationRecord): Promise<HookAnswer> {
  if (record.notes['asked'] === true) return NO_OUTPUT;
  const work = await host.withSession(record, (session) => findUnreviewedWork(session, record.notes));
  if (work === null) return NO_OUTPUT;
  const question = askAgentToReview(work, codexToolName(host));
  await recordHookEventOf(host, record, { hook_event_name: 'Stop' }, { asked: true });
  host.recordTranscript(record, userMessageItem('hopgate', question, 'Stop'));
  return { ...NO_OUTPUT, stdout: JSON.stringify({ decision: 'block', reason: question }) };
}

/**
 * Appends the agent's new messages to its transcript: the messages in Codex's log, and the last message, which is in
 * the event.
 */
async function recordAgentMessages(
  event: Extract<CodexHookEvent, { hook_event_name: 'Stop' | 'SubagentStop' }>,
  host: HookContext,
  record: ConversationRecord,
): Promise<ConversationRecord> {
  const { last_assistant_message: last, transcript_path: main, agent_transcript_path: agentTranscript } = event;
  const { heard: readUntil } = record.notes;
  const { texts: words, end } = assistantMessages(
    agentTranscript ?? main ?? '',
    typeof readUntil === 'number' ? readUntil : 0,
  );
  const all = !last || words.at(-1) === last ? words : [...words, last];
  if (all.length === 0) return record;
  host.recordTranscript(record, ...all.map(assistantMessageItem));
  return recordHookEventOf(host, record, event, {
    heard: end,
    ...(agentTranscript ? { transcript: agentTranscript } : {}),
  });
}

const recordHookEventOf = (
  host: HookContext,
  record: ConversationRecord,
  { hook_event_name: name }: Pick<CodexHookEvent, 'hook_event_name'>,
  notes: ConversationRecord['notes'],
) =>
  host.recordEvent(
    record,
    { name: `${name} answered`, at: new Date().toISOString(), toolUseId: null },
    { ...record.notes, ...notes },
  );

function isStopping(event: unknown): boolean {
  const fields = fieldsOf(event);
  return fields['hook_event_name'] === 'Stop' && fields['stop_hook_active'] === true;
}

/** The agent's messages in Codex's log, from a byte offset. `end` is the offset after the last complete line. */
function assistantMessages(file: string, from = 0): { readonly texts: readonly string[]; readonly end: number } {
  const { entries, end } = readClientLog(file, from);
  const texts = entries.flatMap(({ type, payload }) => {
    const { type: kind, role, content } = fieldsOf(payload);
    if (type !== 'response_item' || kind !== 'message' || role !== 'assistant' || !Array.isArray(content)) return [];
    return content
      .map((part) => fieldsOf(part))
      .flatMap((part) => (part['type'] === 'output_text' && textOf(part['text'])) || []);
  });
  return { texts, end };
}
