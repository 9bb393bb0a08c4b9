import { realpathIfAny } from '../../base/files.ts';
import { textOf } from '../../base/json.ts';
import { claudeFolder } from '../../base/user-folders.ts';
import { gitRootOf } from '../../project/repository-root.ts';
import type { RefusedCall } from '../../session/call-results.ts';
import type { Session } from '../../session/session.ts';
import { getOwn } from '../../spec/names.ts';
import { ARGUMENT_ROLE_FACTS } from '../../spec/policy/argument-roles.ts';
import { BACKGROUND_TOOL_ID } from '../../spec/policy/command-tools.ts';
import type { Fields } from '../../spec/types.ts';
import { claudePluginServerName } from '../core/calls/mcp-name.ts';
import type { ActionStep, HopgateToolCall as Call, ClientAction } from '../core/calls/tool-call-to-action.ts';
import { dryRunCall } from '../core/dry-run-call.ts';
import { firstHopOfWay } from '../core/situation.ts';
import {
  entryIdsOrNull,
  innerCallItem,
  type RecordedTranscriptItem,
  toolCallItem,
  toolResultItem,
} from '../core/transcript/transcript-items.ts';
import type { ClaudeToolEvent } from './claude-event.ts';
import {
  describeClaudeRefusal,
  explainBackgroundCommand,
  RAN_IN_FOREGROUND_NOTE,
  REFUSED_IN_OTHER_TREE,
  refuseClaudeSkill,
  refuseClaudeSubAgent,
  refuseClaudeTool,
  refuseInFavourOfNativeTool,
  refuseUnavailableTool,
} from './claude-texts.ts';
import { claudeToolName } from './claude-tool-name.ts';
import { findRuledTool } from './claude-user-rules.ts';
import { claudeCallToAction } from './client-action.ts';
import { settingsFolder } from './client-file.ts';
import { HOOK_EVENT_NAMES, type HookEventContext, recordHookEvent } from './hook-event-context.ts';
import type { HookReply } from './hook-reply.ts';
import { toNativeClaudeCall } from './native-call.ts';
import { storeNativeCall } from './stored-native-call.ts';

/** The client's time limit for a foreground command, in seconds. */
const MAX_COMMAND = 600;

/** Handles PreToolUse: decides every call of every tool. */
export async function handlePreToolUse(hook: HookEventContext<ClaudeToolEvent>): Promise<HookReply> {
  const { reply, isMutating, items } = isInOtherTree(hook) ? refuse(hook, REFUSED_IN_OTHER_TREE) : await decide(hook);
  hook.host.recordTranscript(hook.record, ...items);
  await recordHookEvent(
    hook,
    reply.kind !== 'allow' ? HOOK_EVENT_NAMES.denied : isMutating ? HOOK_EVENT_NAMES.acting : HOOK_EVENT_NAMES.allowed,
  );
  return reply;
}

const decide = async (hook: HookEventContext<ClaudeToolEvent>): Promise<Decided> =>
  decideAction(
    hook,
    await hook.host.withSession(hook.record, async (session) =>
      claudeCallToAction(hook.event, session, claudePluginServerName(hook.host.server)),
    ),
  );

/** True for a sub-agent whose definition has `isolation`: masks by path do not apply in its copy of the tree. */
function isInOtherTree({ event, record }: HookEventContext): boolean {
  const cwd = textOf(event.fields['cwd']);
  if (event.agentId === null || cwd === null) return false;
  return gitRootOf(realpathIfAny(cwd) ?? cwd) !== gitRootOf(record.conversation.root);
}

interface Decided {
  readonly reply: HookReply;
  /** True if the client itself runs the call and the call changes something. */
  readonly isMutating: boolean;
  /** The items for the transcript. hopgate's MCP server records the calls that it runs. */
  readonly items: readonly RecordedTranscriptItem[];
}

/** Keeps Claude Code from asking about a call that hopgate runs: hopgate itself asks a person if necessary. */
const WITHOUT_QUESTION = { decision: 'allow' } as const;

const allow = (
  items: readonly RecordedTranscriptItem[],
  instead: Omit<Extract<HookReply, { kind: 'allow' }>, 'kind'> = {},
): Decided => ({ reply: { kind: 'allow', ...instead }, isMutating: false, items });

/** A refusal by the adapter, not by the gate. */
function refuse({ event }: HookEventContext<ClaudeToolEvent>, why: string): Decided {
  const { toolUseId: id, tool, input } = event;
  const items = [
    toolCallItem({ id, tool, input, channel: tool }),
    toolResultItem(id, { status: 'refused', text: why }),
  ];
  return { reply: { kind: 'deny', why }, isMutating: false, items };
}

async function decideRefused(
  hook: HookEventContext<ClaudeToolEvent>,
  call: Call,
  { denial, evidence }: RefusedCall,
): Promise<Decided> {
  const first = await hook.host.withSession(hook.record, async (session) => firstHopOfWay(session, denial));
  const why = describeClaudeRefusal(denial, { isSubAgent: isSubAgent(hook), first }, claudeToolName(hook.host));
  const refusal = toolResultItem(hook.event.toolUseId, {
    status: 'refused',
    code: denial.code,
    text: why,
    evidence: entryIdsOrNull(evidence),
  });
  return { reply: { kind: 'deny', why }, isMutating: false, items: [calledAs(hook, call), refusal] };
}

/** The client's call in hopgate's terms: tool and arguments under their names in the spec. */
const calledAs = ({ event }: HookEventContext<ClaudeToolEvent>, { tool, args }: Call): RecordedTranscriptItem =>
  toolCallItem({ id: event.toolUseId, tool, input: args, channel: event.tool });

async function decideAction(hook: HookEventContext<ClaudeToolEvent>, action: ClientAction): Promise<Decided> {
  const { toolUseId: id, tool, input } = hook.event;
  switch (action.kind) {
    case 'steps': {
      const [step, ...more] = action.steps;
      if (!step || more.length > 0) return refuseUnmapped(hook, 'contains several calls; make them one by one');
      return decideStep(hook, step);
    }
    case 'hop':
    case 'mode':
      return isSubAgent(hook) ? refuse(hook, refuseClaudeSubAgent(action.kind)) : allow([], WITHOUT_QUESTION);
    case 'ask':
      hook.host.expectSubAgentCall(hook.record, { tool: action.control, args: action.input });
      return allow([], WITHOUT_QUESTION);
    case 'inner': {
      const why =
        tool === 'Skill' ? await hook.host.skillProblem(hook.record, skillOf(input), userSettingsOf(hook)) : null;
      if (why !== null) return refuse(hook, refuseClaudeSkill(skillOf(input), why));
      const startsSubAgent = tool === 'Agent' || tool === 'Task';
      // No event names the agent that started a sub-agent, so a sub-agent of a sub-agent would get the rights of the
      // main agent.
      if (startsSubAgent && isSubAgent(hook)) return refuse(hook, refuseClaudeSubAgent(tool));
      const started = startsSubAgent ? await startSubAgent(hook) : null;
      if (started !== null) return started;
      return allow([innerCallItem({ id, tool, input, channel: tool })]);
    }
    case 'unmapped':
      return refuseUnmapped(hook, action.why);
    default:
      return action satisfies never;
  }
}

/** Records the start of a sub-agent in another peripheral. Returns the refusal; null if the client may start it. */
async function startSubAgent(hook: HookEventContext<ClaudeToolEvent>): Promise<Decided | null> {
  const { host, record, event } = hook;
  const { input, tool } = event;
  const type = textOf(input['subagent_type']) ?? '';
  const reason = textOf(input['description']) ?? '';
  const { peripheralOfSubAgent } = await import('../../session/sub-agent.ts');
  const started = await host.withSession(record, async (session) => {
    const to = peripheralOfSubAgent(session, type);
    return to === null ? null : session.delegate({ to, reason });
  });
  return started === null || started.ok ? null : decideRefused(hook, { tool, args: input }, started);
}

function decideStep(hook: HookEventContext<ClaudeToolEvent>, step: ActionStep): Promise<Decided> {
  switch (step.how) {
    case 'native':
      return decideNative(hook, step);
    case 'contained':
      return hook.event.tool === 'Bash' ? decideShell(hook, step) : refuseForOurTool(hook, step);
    case 'hopgate':
      return decideOurTool(hook, step);
    default:
      return step.how satisfies never;
  }
}

/** The folder of the settings of Claude Code's user. */
function userSettingsOf({ event, env }: HookEventContext): string {
  const transcript = textOf(event.fields['transcript_path']);
  return transcript ? settingsFolder(transcript) : claudeFolder(env);
}

const isSubAgent = ({ event }: HookEventContext): boolean => event.agentId !== null;

/** Decides a call of the client's own Read, Edit, …, records the intent, and leaves the call to the client. */
async function decideNative(hook: HookEventContext<ClaudeToolEvent>, { tool, args }: Call): Promise<Decided> {
  const call = { tool, args };
  const { host, record, event } = hook;
  // Claude Code shows its model the instruction files in the folders above a file that it reads.
  const problem = await host.instructionProblem(record, 'claude-code', textOf(args['path']) ?? '');
  if (problem) return refuse(hook, `${problem.message}.\nWhat to do: ask the operator. ${problem.remedy}`);
  const denial = isSubAgent(hook) ? await dryRunCall(hook, call) : null;
  if (denial) return decideRefused(hook, call, denial);
  const admitted = await host.withSession(record, (session) => session.admit(call));
  if (!admitted.ok) return decideRefused(hook, call, admitted);
  await storeNativeCall(hook, { ticket: admitted.ticket, input: event.input });
  return { ...allow([calledAs(hook, call)]), isMutating: admitted.ticket.intent !== null };
}

/**
 * Replaces a shell command by one that runs it in the sandbox. The agent's own text follows after an `exit`, so no
 * shell runs it. Claude Code nevertheless applies the user's rules and permission mode to this text, and shows it in
 * the permission question.
 */
async function decideShell(hook: HookEventContext<ClaudeToolEvent>, call: Call): Promise<Decided> {
  const { host, record, event } = hook;
  const wantsBackground = event.input['run_in_background'] === true;
  const background = wantsBackground
    ? await host.withSession(record, async (session) => backgroundCall(session, call))
    : null;
  const { tool, args } = background ?? call;
  // Only hopgate's own tool can ask a person while the call waits.
  const request = await host.withSession(record, (session) => session.wants({ step: call }));
  const isApproved = request !== null && !isSubAgent(hook) && host.isApproved(record, request);
  if (request !== null && !isApproved) return refuse(hook, refuseClaudeTool('Bash', call, claudeToolName(host)));
  const denial = isApproved ? null : await dryRunCall(hook, { tool, args });
  if (denial) return decideRefused(hook, { tool, args }, denial);
  const seconds = await host.withSession(record, async (session) => session.tool(tool)?.limits.seconds ?? MAX_COMMAND);
  const runCommand = await host.commandFor(record, { tool, args, callId: event.toolUseId });
  const command = `${runCommand}; exit;\n${textOf(event.input['command']) ?? ''}`;
  const timeout = Math.min(MAX_COMMAND, seconds + 20) * 1000;
  const when: Fields = background ? { run_in_background: true } : { timeout };
  const input = { command, description: event.input['description'] ?? 'Run in hopgate', ...when };
  await storeNativeCall(hook, { ticket: null, input });
  const notice = background
    ? { text: explainBackgroundCommand(claudeToolName(host)) }
    : wantsBackground
      ? { text: RAN_IN_FOREGROUND_NOTE }
      : {};
  return allow([calledAs(hook, { tool, args })], { input, ...notice });
}

const skillOf = (input: ClaudeToolEvent['input']) => ({
  skill: textOf(input['skill']) ?? textOf(input['command']) ?? '',
  args: textOf(input['args']) ?? '',
});

/** The call that runs a shell command in the background; null for tests and git, and if no tool here does that. */
function backgroundCall({ specs, state }: Session, { tool, args }: Call): Call | null {
  const here = specs.peripherals[state.peripheral ?? '']?.tools ?? [];
  const isShell = tool === 'bash' || tool === 'bash-readonly';
  const command = textOf(args['command']);
  return isShell && command !== null && here.includes(BACKGROUND_TOOL_ID)
    ? { tool: BACKGROUND_TOOL_ID, args: { command } }
    : null;
}

/** Refuses a call of a client's tool that only a hopgate tool carries out here. */
async function refuseForOurTool(hook: HookEventContext<ClaudeToolEvent>, call: Call): Promise<Decided> {
  const denial = await dryRunCall(hook, call);
  return denial
    ? decideRefused(hook, call, denial)
    : refuse(hook, refuseClaudeTool(hook.event.tool, call, claudeToolName(hook.host)));
}

/**
 * Decides a tool call to hopgate's MCP server, which decides it again. A sub-agent shares its parent's server, so its
 * own envelope is checked here. If one of Claude Code's own tools does the same, the call is refused, and the refusal
 * names that tool: the user's rules apply to it.
 */
async function decideOurTool(hook: HookEventContext<ClaudeToolEvent>, { tool, args }: Call): Promise<Decided> {
  const { host, record, event } = hook;
  const { native, spec } = await host.withSession(record, async (session) => ({
    native: (await session.wants({ step: { tool, args } })) ? null : toNativeClaudeCall(session, { tool, args }),
    spec: getOwn(session.specs.tools, tool),
  }));
  const denial = native || isSubAgent(hook) ? await dryRunCall(hook, { tool, args }) : null;
  if (denial) return decideRefused(hook, { tool, args }, denial);
  if (native) return refuse(hook, refuseInFavourOfNativeTool(event.tool, native));
  host.expectSubAgentCall(record, { tool, args });
  const ruledBy = spec && findRuledTool(spec, record.conversation.root, userSettingsOf(hook), hook.env);
  if (ruledBy !== undefined)
    return allow([], {
      decision: 'ask',
      why: `asks, because the user has rules for ${ruledBy} that Claude Code cannot apply to ${tool}`,
    });
  const isHarmless =
    spec?.effect === 'observe' && spec.parameters.every(({ role }) => !ARGUMENT_ROLE_FACTS[role].namesHost);
  return allow([], isHarmless ? WITHOUT_QUESTION : {});
}

/** Refuses a tool that no scope can limit. */
async function refuseUnmapped(hook: HookEventContext<ClaudeToolEvent>, why: string | null): Promise<Decided> {
  const { toolUseId: id, tool, input: args } = hook.event;
  if (await hook.host.withSession(hook.record, (session) => session.admitUncovered({ tool, args })))
    return allow([toolCallItem({ id, tool, input: args, channel: tool })]);
  const denial = await dryRunCall(hook, { tool, args });
  if (denial === null) return refuse(hook, refuseUnavailableTool(tool, why, claudeToolName(hook.host)));
  const refused = await decideRefused(hook, { tool, args }, denial);
  if (why === null) return refused;
  return { ...refused, reply: { kind: 'deny', why: refuseUnavailableTool(tool, why, claudeToolName(hook.host)) } };
}
