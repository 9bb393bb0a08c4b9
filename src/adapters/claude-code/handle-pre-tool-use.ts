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
export async function handlePreToolUse(at: HookEventContext<ClaudeToolEvent>): Promise<HookReply> {
  const { reply, isMutating, items } = isInOtherTree(at) ? refuse(at, REFUSED_IN_OTHER_TREE) : await decide(at);
  at.host.recordTranscript(at.record, ...items);
  await recordHookEvent(
    at,
    reply.kind !== 'allow' ? HOOK_EVENT_NAMES.denied : isMutating ? HOOK_EVENT_NAMES.acting : HOOK_EVENT_NAMES.allowed,
  );
  return reply;
}

const decide = async (at: HookEventContext<ClaudeToolEvent>): Promise<Decided> =>
  decideAction(
    at,
    await at.host.withSession(at.record, async (session) =>
      claudeCallToAction(at.event, session, claudePluginServerName(at.host.server)),
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
  at: HookEventContext<ClaudeToolEvent>,
  call: Call,
  { denial, evidence }: RefusedCall,
): Promise<Decided> {
  const first = await at.host.withSession(at.record, async (session) => firstHopOfWay(session, denial));
  const why = describeClaudeRefusal(denial, { isSubAgent: isSubAgent(at), first }, claudeToolName(at.host));
  const refusal = toolResultItem(at.event.toolUseId, {
    status: 'refused',
    code: denial.code,
    text: why,
    evidence: entryIdsOrNull(evidence),
  });
  return { reply: { kind: 'deny', why }, isMutating: false, items: [calledAs(at, call), refusal] };
}

/** The client's call in hopgate's terms: tool and arguments under their names in the spec. */
const calledAs = ({ event }: HookEventContext<ClaudeToolEvent>, { tool, args }: Call): RecordedTranscriptItem =>
  toolCallItem({ id: event.toolUseId, tool, input: args, channel: event.tool });

async function decideAction(at: HookEventContext<ClaudeToolEvent>, action: ClientAction): Promise<Decided> {
  const { toolUseId: id, tool, input } = at.event;
  switch (action.kind) {
    case 'steps': {
      const [step, ...more] = action.steps;
      if (!step || more.length > 0) return refuseUnmapped(at, 'contains several calls; make them one by one');
      return decideStep(at, step);
    }
    case 'hop':
    case 'mode':
      return isSubAgent(at) ? refuse(at, refuseClaudeSubAgent(action.kind)) : allow([], WITHOUT_QUESTION);
    case 'ask':
      at.host.expectSubAgentCall(at.record, { tool: action.control, args: action.input });
      return allow([], WITHOUT_QUESTION);
    case 'inner': {
      const why = tool === 'Skill' ? await at.host.skillProblem(at.record, skillOf(input), userSettingsOf(at)) : null;
      if (why !== null) return refuse(at, refuseClaudeSkill(skillOf(input), why));
      const startsSubAgent = tool === 'Agent' || tool === 'Task';
      // No event names the agent that started a sub-agent, so a sub-agent of a sub-agent would get the rights of the
      // main agent.
      if (startsSubAgent && isSubAgent(at)) return refuse(at, refuseClaudeSubAgent(tool));
      const started = startsSubAgent ? await startSubAgent(at) : null;
      if (started !== null) return started;
      return allow([innerCallItem({ id, tool, input, channel: tool })]);
    }
    case 'unmapped':
      return refuseUnmapped(at, action.why);
    default:
      return action satisfies never;
  }
}

/** Records the start of a sub-agent in another peripheral. Returns the refusal; null if the client may start it. */
async function startSubAgent(at: HookEventContext<ClaudeToolEvent>): Promise<Decided | null> {
  const { host, record, event } = at;
  const { input, tool } = event;
  const type = textOf(input['subagent_type']) ?? '';
  const reason = textOf(input['description']) ?? '';
  const { peripheralOfSubAgent } = await import('../../session/sub-agent.ts');
  const started = await host.withSession(record, async (session) => {
    const to = peripheralOfSubAgent(session, type);
    return to === null ? null : session.delegate({ to, reason });
  });
  return started === null || started.ok ? null : decideRefused(at, { tool, args: input }, started);
}

function decideStep(at: HookEventContext<ClaudeToolEvent>, step: ActionStep): Promise<Decided> {
  switch (step.how) {
    case 'native':
      return decideNative(at, step);
    case 'contained':
      return at.event.tool === 'Bash' ? decideShell(at, step) : refuseForOurTool(at, step);
    case 'hopgate':
      return decideOurTool(at, step);
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
async function decideNative(at: HookEventContext<ClaudeToolEvent>, { tool, args }: Call): Promise<Decided> {
  const call = { tool, args };
  const { host, record, event } = at;
  // Claude Code shows its model the instruction files in the folders above a file that it reads.
  const problem = await host.instructionProblem(record, 'claude-code', textOf(args['path']) ?? '');
  if (problem) return refuse(at, `${problem.message}.\nWhat to do: ask the operator. ${problem.remedy}`);
  const denial = isSubAgent(at) ? await dryRunCall(at, call) : null;
  if (denial) return decideRefused(at, call, denial);
  const admitted = await host.withSession(record, (session) => session.admit(call));
  if (!admitted.ok) return decideRefused(at, call, admitted);
  await storeNativeCall(at, { ticket: admitted.ticket, input: event.input });
  return { ...allow([calledAs(at, call)]), isMutating: admitted.ticket.intent !== null };
}

/**
 * Replaces a shell command by one that runs it in the sandbox. The agent's own text follows after an `exit`, so no
 * shell runs it. Claude Code nevertheless applies the user's rules and permission mode to it, and shows it in the
 * permission question.
 */
async function decideShell(at: HookEventContext<ClaudeToolEvent>, call: Call): Promise<Decided> {
  const { host, record, event } = at;
  const wantsBackground = event.input['run_in_background'] === true;
  const background = wantsBackground
    ? await host.withSession(record, async (session) => backgroundCall(session, call))
    : null;
  const { tool, args } = background ?? call;
  // Only hopgate's own tool can ask a person while the call waits.
  const request = await host.withSession(record, (session) => session.wants({ step: call }));
  const isApproved = request !== null && !isSubAgent(at) && host.isApproved(record, request);
  if (request !== null && !isApproved) return refuse(at, refuseClaudeTool('Bash', call, claudeToolName(host)));
  const denial = isApproved ? null : await dryRunCall(at, { tool, args });
  if (denial) return decideRefused(at, { tool, args }, denial);
  const seconds = await host.withSession(record, async (session) => session.tool(tool)?.limits.seconds ?? MAX_COMMAND);
  const runCommand = await host.commandFor(record, { tool, args, callId: event.toolUseId });
  const command = `${runCommand}; exit;\n${textOf(event.input['command']) ?? ''}`;
  const timeout = Math.min(MAX_COMMAND, seconds + 20) * 1000;
  const when: Fields = background ? { run_in_background: true } : { timeout };
  const input = { command, description: event.input['description'] ?? 'Run in hopgate', ...when };
  await storeNativeCall(at, { ticket: null, input });
  const notice = background
    ? { text: explainBackgroundCommand(claudeToolName(host)) }
    : wantsBackground
      ? { text: RAN_IN_FOREGROUND_NOTE }
      : {};
  return allow([calledAs(at, { tool, args })], { input, ...notice });
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
async function refuseForOurTool(at: HookEventContext<ClaudeToolEvent>, call: Call): Promise<Decided> {
  const denial = await dryRunCall(at, call);
  return denial
    ? decideRefused(at, call, denial)
    : refuse(at, refuseClaudeTool(at.event.tool, call, claudeToolName(at.host)));
}

/**
 * Decides a tool call to hopgate's MCP server, which decides it again. A sub-agent shares its parent's server, so its
 * own envelope is checked here. If a tool of Claude Code's own does the same, the call is refused in its favour,
 * because the user's rules name that tool.
 */
async function decideOurTool(at: HookEventContext<ClaudeToolEvent>, { tool, args }: Call): Promise<Decided> {
  const { host, record, event } = at;
  const { native, spec } = await host.withSession(record, async (session) => ({
    native: (await session.wants({ step: { tool, args } })) ? null : toNativeClaudeCall(session, { tool, args }),
    spec: getOwn(session.specs.tools, tool),
  }));
  const denial = native || isSubAgent(at) ? await dryRunCall(at, { tool, args }) : null;
  if (denial) return decideRefused(at, { tool, args }, denial);
  if (native) return refuse(at, refuseInFavourOfNativeTool(event.tool, native));
  host.expectSubAgentCall(record, { tool, args });
  const ruledBy = spec && findRuledTool(spec, record.conversation.root, userSettingsOf(at), at.env);
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
async function refuseUnmapped(at: HookEventContext<ClaudeToolEvent>, why: string | null): Promise<Decided> {
  const { toolUseId: id, tool, input: args } = at.event;
  if (await at.host.withSession(at.record, (session) => session.admitUncovered({ tool, args })))
    return allow([toolCallItem({ id, tool, input: args, channel: tool })]);
  const denial = await dryRunCall(at, { tool, args });
  if (denial === null) return refuse(at, refuseUnavailableTool(tool, why, claudeToolName(at.host)));
  const refused = await decideRefused(at, { tool, args }, denial);
  if (why === null) return refused;
  return { ...refused, reply: { kind: 'deny', why: refuseUnavailableTool(tool, why, claudeToolName(at.host)) } };
}
