import { existsSync, realpathSync } from 'node:fs';
import { textOf } from '../../base/json.ts';
import { errorText } from '../../base/text.ts';
import type { Env } from '../../base/user-folders.ts';
import { repositoryOfFolder } from '../../project/repository-root.ts';
import type { ConversationRecord, HookAnswer, HookContext } from '../core/hook-context.ts';
import { collectOperatorNews } from '../core/operator-news.ts';
import {
  entryIdsOrNull,
  toolCallItem,
  toolErrorItem,
  toolResultItem,
  userMessageItem,
} from '../core/transcript/transcript-items.ts';
import { takeNewMessagesText } from '../core/turn-messages.ts';
import { type ClaudeHookEvent, readClaudeEvent, toClaudeToolEvent } from './claude-event.ts';
import { handlePostToolUse } from './handle-post-tool-use.ts';
import { handlePreToolUse } from './handle-pre-tool-use.ts';
import { HOOK_EVENT_NAMES, type HookEventContext, recordHookEvent } from './hook-event-context.ts';
import { type HookReply, NO_REPLY, renderHookReply, toRefusalAnswer } from './hook-reply.ts';
import { addHookWarning, findMissingHooks, findOverdueCalls } from './missing-hooks.ts';
import type { StoredNativeCall } from './stored-native-call.ts';

/**
 * Answers one hook event of Claude Code: the output and the exit code of the hook process. Never throws: an error
 * becomes a refusal with its reason.
 * @param raw the JSON of the hook's standard input
 * @param env `HOPGATE_ROOT` names the repository if `HOPGATE_SESSION` is set too; otherwise it is the repository of
 *   `CLAUDE_PROJECT_DIR`, or of the event's `cwd`
 */
export async function handleClaudeEvent(raw: unknown, host: HookContext, env: Env): Promise<HookAnswer> {
  const event = readClaudeEvent(raw);
  if (!event) return toRefusalAnswer('hopgate: the input of the hook cannot be read, so the call is refused');
  let record: ConversationRecord | null = null;
  try {
    record = await host.conversation({
      client: 'claude-code',
      id: event.conversation,
      agentId: event.agentId,
      ...agentTypeOf(event),
      root: rootOf(event, env),
    });
    const noticed = await recordMissingHooks({ event, record, host, env });
    const reply = await handleEvent({ event, record: noticed, host, env });
    const hook = { event, record: noticed, host, env };
    const finished = await renderWithWarning(hook, await withMessages(hook, await withNews(hook, reply)));
    const shown = reply.kind === 'context' ? reply.shown : undefined;
    if (shown === undefined) return finished;
    return {
      ...finished,
      onDelivered: async () => (await import('./reply-with-situation.ts')).recordShownPlace(hook, shown),
    };
  } catch (error) {
    const call = event.name === 'PreToolUse' ? toClaudeToolEvent(event) : null;
    if (record && call) {
      const { toolUseId: id, tool, input } = call;
      host.recordTranscript(record, toolCallItem({ id, tool, input, channel: tool }), toolErrorItem(id, error));
    }
    return answerAfterError(event, error);
  }
}

/**
 * Passes the event to its handler. Only the handlers of tool calls are imported statically, because every call waits
 * for them.
 */
async function handleEvent(hook: HookEventContext): Promise<HookReply> {
  const { event } = hook;
  switch (event.name) {
    case 'PreToolUse':
    case 'PostToolUse':
    case 'PostToolUseFailure': {
      const call = toClaudeToolEvent(event);
      if (!call) throw new Error(`the ${event.name} event names no tool`);
      return event.name === 'PreToolUse'
        ? handlePreToolUse({ ...hook, event: call })
        : handlePostToolUse({ ...hook, event: call });
    }
    case 'SessionStart':
      await recordHookEvent(hook, event.name, {
        ...hook.record.notes,
        announced: true,
        ...(await transcriptNotes(event, hook.record)),
      });
      return (await import('./reply-with-situation.ts')).replyWithSituation(hook);
    case 'UserPromptSubmit': {
      const problem = await hook.host.instructionProblem(hook.record, 'claude-code');
      if (problem) return { kind: 'deny', why: `hopgate: ${problem.message}.\nWhat to do: ${problem.remedy}` };
      const { makeTurnBeginNote } = await import('../core/unreviewed-work.ts');
      const turn = await hook.host.withSession(hook.record, makeTurnBeginNote);
      const record = await recordHookEvent(hook, event.name, { ...hook.record.notes, ...turn });
      return (await import('./reply-with-situation.ts')).replyWithSituation({ ...hook, record });
    }
    case 'SubagentStart':
      await recordHookEvent(hook, event.name);
      return (await import('./reply-with-situation.ts')).replyWithSituation(hook);
    case 'Stop':
      return (await import('./handle-stop.ts')).handleStop(hook);
    case 'SubagentStop':
      return (await import('./handle-end.ts')).handleSubagentStop(hook);
    case 'SessionEnd':
      return (await import('./handle-end.ts')).handleSessionEnd(hook);
    case 'ConfigChange':
      return (await import('./handle-config-change.ts')).handleConfigChange(hook);
    default:
      await recordHookEvent(hook, event.name);
      return NO_REPLY;
  }
}

/** Notes the transcript file and its current length: messages before this length belong to an earlier conversation. */
async function transcriptNotes(
  { fields }: ClaudeHookEvent,
  { notes }: ConversationRecord,
): Promise<ConversationRecord['notes']> {
  const transcript = textOf(fields['transcript_path']);
  if (transcript === null || notes['transcript'] === transcript) return {};
  const { readClaudeTranscript } = await import('./claude-transcript.ts');
  return { transcript, heard: readClaudeTranscript(transcript).end };
}

/** Maximum wait for Claude Code to write the end of a call to its transcript, and the polling interval, in ms. */
const [TRANSCRIPT_WAIT_MS, TRANSCRIPT_POLL_MS] = [600, 30];

/** Records the allowed calls that the client refused or interrupted: no hook reports them, but its transcript does. */
async function concludeUnfinishedCalls(hook: HookEventContext): Promise<ConversationRecord> {
  const { event } = hook;
  const path = textOf(event.fields['transcript_path']);
  const openIds = findOverdueCalls(event, hook.record).flatMap(({ toolUseId }) => toolUseId ?? []);
  if (openIds.length === 0 || path === null) return hook.record;
  const { readEndedCalls, subAgentTranscriptPath } = await import('./claude-transcript.ts');
  const file = event.agentId === null ? path : subAgentTranscriptPath(path, event.conversation, event.agentId);
  if (!existsSync(file)) return hook.record;
  // A call may still be running while the user types the next prompt.
  const isOver = event.name !== 'UserPromptSubmit';
  let ended = readEndedCalls(file);
  for (
    let waited = 0;
    isOver && waited < TRANSCRIPT_WAIT_MS && !openIds.every((id) => ended.has(id));
    waited += TRANSCRIPT_POLL_MS
  ) {
    await new Promise((resolve) => setTimeout(resolve, TRANSCRIPT_POLL_MS));
    ended = readEndedCalls(file);
  }
  let { record } = hook;
  for (const toolUseId of openIds) {
    const end = ended.get(toolUseId) ?? (isOver ? INTERRUPTED : null);
    if (end === null || end.ran) continue;
    await concludeUnfinishedCall({ ...hook, record }, toolUseId, `Claude Code did not run it: ${end.text}`);
    record = await recordHookEvent({ ...hook, record, event: { ...event, toolUseId } }, HOOK_EVENT_NAMES.refused);
  }
  return record;
}

const INTERRUPTED = { ran: false, text: 'it was interrupted' };

async function concludeUnfinishedCall(
  { host, record }: HookEventContext,
  toolUseId: string,
  message: string,
): Promise<void> {
  const stored = (await host.takeForCall(record, toolUseId)) as StoredNativeCall | null;
  if (stored === null) return;
  const { ticket, input } = stored;
  // A command that has begun is recorded by the process that runs it.
  if (ticket === null && !(await host.revokeCommand(textOf(input['command']) ?? ''))) return;
  const concluded =
    ticket &&
    (await host.withSession(record, (session) =>
      session.conclude(ticket, { status: 'failed', code: 'client-refused', message }),
    ));
  host.recordTranscript(
    record,
    concluded
      ? toolResultItem(toolUseId, { status: 'failed', text: message, evidence: entryIdsOrNull(concluded.evidence) })
      : toolResultItem(toolUseId, { status: 'refused', text: message }), // Refused by the user, not by the gate.
  );
}

async function recordMissingHooks(before: HookEventContext): Promise<ConversationRecord> {
  const hook = { ...before, record: await concludeUnfinishedCalls(before) };
  const { event, record } = hook;
  const missing = findMissingHooks(event, record);
  if (!missing) return record;
  const notes = { ...addHookWarning(record, missing.text, true), announced: true };
  let noticed = await recordHookEvent({ ...hook, event: { ...event, toolUseId: null } }, 'missing hook noticed', notes);
  for (const { toolUseId } of missing.calls) {
    const missing = { ...hook, record: noticed, event: { ...event, toolUseId } };
    await recordLostResult(missing);
    noticed = await recordHookEvent(missing, HOOK_EVENT_NAMES.missing);
  }
  return noticed;
}

/** Records in the transcript that the result of a native call will never arrive. */
async function recordLostResult({ event: { toolUseId }, record, host }: HookEventContext): Promise<void> {
  if (toolUseId === null) return;
  const stored = (await host.takeForCall(record, toolUseId)) as StoredNativeCall | null;
  if (stored?.ticket)
    host.recordTranscript(record, toolResultItem(toolUseId, { status: 'error', text: 'no hook reported its end' }));
}

/** Events whose reply can contain text for the model even if the handler has nothing to report. */
const EVENTS_WITH_TEXT = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'SessionStart'];

/** Adds new messages to the refusal of a call, because no PostToolUse event follows a refused call. */
async function withMessages({ event, record, host }: HookEventContext, reply: HookReply): Promise<HookReply> {
  if (event.name !== 'PreToolUse' || reply.kind !== 'deny') return reply;
  const messages = await host.withSession(record, takeNewMessagesText);
  return messages === null ? reply : { ...reply, why: `${reply.why}\n${messages}` };
}

/** Adds a report of the operator's acts to a reply that the model reads, including one that lets the model stop. */
async function withNews(hook: HookEventContext, reply: HookReply): Promise<HookReply> {
  const { event, host } = hook;
  const record = await host.conversation(hook.record.conversation);
  const stops = event.name === 'Stop' && event.fields['stop_hook_active'] !== true;
  const carries =
    reply.kind !== 'remark' && (reply.kind !== 'nothing' || stops || EVENTS_WITH_TEXT.includes(event.name));
  const news = carries ? await collectOperatorNews(host, record) : null;
  if (news === null) return reply;
  await recordHookEvent({ ...hook, record, event: { ...event, toolUseId: null } }, 'operator acts reported', {
    ...record.notes,
    ...news.notes,
  });
  host.recordTranscript(record, userMessageItem('hopgate', news.text, event.name));
  switch (reply.kind) {
    case 'deny':
    case 'go-on':
      return { ...reply, why: `${reply.why}\n\n${news.text}` };
    case 'allow':
    case 'context':
      return { ...reply, text: reply.text === undefined ? news.text : `${reply.text}\n\n${news.text}` };
    default:
      return stops ? { kind: 'go-on', why: news.text } : { kind: 'context', event: event.name, text: news.text };
  }
}

/** Renders the reply, with the pending warning about missing hooks if the reply can carry a message to the user. */
async function renderWithWarning(hook: HookEventContext, reply: HookReply): Promise<HookAnswer> {
  const unshown = textOf(hook.record.notes['unshown']);
  if (unshown === null || reply.kind === 'deny') return renderHookReply(reply, null);
  const record = await hook.host.conversation(hook.record.conversation); // Read again: the handler may have added notes.
  const { unshown: _, ...notes } = record.notes;
  await recordHookEvent({ ...hook, record, event: { ...hook.event, toolUseId: null } }, 'missing hook shown', notes);
  return renderHookReply(reply, `hopgate: ${unshown}`);
}

/**
 * The reply after an error: a refusal. If a Stop hook has already kept the agent from stopping, it is only a message.
 */
function answerAfterError(event: ClaudeHookEvent, error: unknown): HookAnswer {
  const why = errorText(error);
  if (event.fields['stop_hook_active'] === true)
    return renderHookReply(NO_REPLY, `hopgate could not answer ${event.name}: ${why}`);
  return toRefusalAnswer(
    `hopgate could not decide this (${event.name}): ${why}.\nWhat to do: try again; if that fails, ask the operator to run "hopgate doctor". Until then every call is refused.`,
  );
}

function agentTypeOf({ agentId, fields }: ClaudeHookEvent): { readonly agentType?: string } {
  const agentType = agentId === null ? null : textOf(fields['agent_type']);
  return agentType === null ? {} : { agentType };
}

function rootOf({ fields }: ClaudeHookEvent, env: Env): string {
  // HOPGATE_ROOT is trusted only together with HOPGATE_SESSION: a repository's settings can set variables, but only a
  // process that hopgate started knows the id of a session.
  const named = textOf(env['HOPGATE_SESSION']) === null ? null : textOf(env['HOPGATE_ROOT']);
  if (named !== null) return realpathSync(named);
  const folder = textOf(env['CLAUDE_PROJECT_DIR']) ?? textOf(fields['cwd']);
  if (folder === null) throw new Error('the event names no working folder');
  return repositoryOfFolder(realpathSync(folder));
}
