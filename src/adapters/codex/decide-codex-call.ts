import { realpathIfAny } from '../../base/files.ts';
import { asJson, textOf } from '../../base/json.ts';
import type { Env } from '../../base/user-folders.ts';
import type { RefusedCall } from '../../session/call-results.ts';
import type { Session } from '../../session/session.ts';
import { readCallArguments } from '../core/calls/control-calls.ts';
import { isMcpToolName, userChosenServerName } from '../core/calls/mcp-name.ts';
import { isHomePath } from '../core/calls/patch.ts';
import { shellRoutingOf } from '../core/calls/shell-route.ts';
import {
  type ActionStep,
  type ClientAction,
  type HopgateToolCall,
  toolCallToAction,
} from '../core/calls/tool-call-to-action.ts';
import { dryRunCall, recordCallRefusal } from '../core/dry-run-call.ts';
import type { ConversationRecord, HookContext } from '../core/hook-context.ts';
import { firstHopOfWay } from '../core/situation.ts';
import {
  entryIdsOrNull,
  innerCallItem,
  type RecordedTranscriptItem,
  toolCallItem,
  toolResultItem,
} from '../core/transcript/transcript-items.ts';
import type { CodexToolEvent } from './codex-event.ts';
import {
  type CodexReader,
  codexToolName,
  describeCodexRefusal,
  refuseCodexSubAgent,
  refuseInFavourOfHopgate,
  refuseMultiFilePatch,
  refusePatchInReadOnlyRun,
  refuseUnknownTool,
} from './codex-texts.ts';
import { ADMITTED, ticketStorageKey } from './conclude-codex-call.ts';
import { parseCodexToolName } from './read-codex-tool.ts';

/** The refusal's text for the model; null if the call may run. */
type RefusalText = string | null;

interface ToolEventContext {
  readonly event: CodexToolEvent;
  readonly host: HookContext;
  readonly record: ConversationRecord;
  readonly env: Env;
}

/** Decides a tool call of Codex. Every tool that is not known to be harmless goes to the gate. */
export async function decideCodexCall(
  event: CodexToolEvent,
  host: HookContext,
  record: ConversationRecord,
  env: Env,
): Promise<RefusalText> {
  const hook = { event, host, record, env };
  const { tool_use_id: id, tool_name: tool, tool_input: input } = event;
  const action = await host.withSession(record, async (session) => actionOf(event, session, host));
  switch (action.kind) {
    case 'inner':
      // No event names the agent that started a sub-agent, so a sub-agent of a sub-agent would get the rights of the
      // main agent.
      if (isSubAgent(hook) && tool.endsWith('spawn_agent')) return refuse(hook, refuseCodexSubAgent(tool));
      host.recordTranscript(record, innerCallItem({ id, tool, input, channel: tool }));
      return null;
    case 'ask':
      host.expectSubAgentCall(record, { tool: action.control, args: action.input });
      return null;
    case 'hop':
    case 'mode':
      // A sub-agent's connection belongs to the session of the agent that started it.
      return isSubAgent(hook) ? refuse(hook, refuseCodexSubAgent(codexToolName(host)(action.kind))) : null;
    case 'unmapped':
      return refuseUnmapped(hook, action.why);
    case 'steps':
      return decideSteps(hook, action.steps);
    default:
      return action satisfies never;
  }
}

function actionOf(
  { tool_name, tool_input: input, cwd }: CodexToolEvent,
  session: Session,
  host: HookContext,
): ClientAction {
  const { specs, config, root } = session;
  const { name, inner } = parseCodexToolName(tool_name, Object.keys(specs.tools), codexToolName(host));
  const own = userChosenServerName(host.server);
  if (inner) return { kind: 'inner' };
  if (!isMcpToolName(name)) {
    const given = readCallArguments(input);
    const home = PATHS.map((key) => textOf(given[key])).find(isInHome);
    if (home !== undefined) return { kind: 'unmapped', why: `was given the path "${home}", ${READ_FROM_HOME}` };
    if ((given['items'] ?? null) !== null) return { kind: 'unmapped', why: SHOWS_ITEMS };
  }
  return toolCallToAction(
    { provider: 'codex', name, input },
    { specs, config, root, cwd: realpathIfAny(cwd) ?? cwd, ...shellRoutingOf(session), own },
  );
}

/** The arguments of Codex's file tools that are paths. */
const PATHS = ['path', 'file_path', 'dir_path'];

const isInHome = (path: string | null): boolean => path !== null && isHomePath(path);

const READ_FROM_HOME = 'which Codex reads from the home folder; write it from the root, without "~"';

/** The tools for sub-agents take an image or a recording by its path, anywhere on the machine. */
const SHOWS_ITEMS = 'was given items, which may show files; write the task as message, without items';

const isSubAgent = ({ record }: ToolEventContext): boolean => record.conversation.agentId !== null;

const readerOf = (hook: ToolEventContext): CodexReader => ({
  ourName: codexToolName(hook.host),
  isSubAgent: isSubAgent(hook),
});

/** A refusal by the adapter, not by the gate. */
function refuse({ event, host, record }: ToolEventContext, why: string): string {
  const { tool_use_id: id, tool_name: tool, tool_input: input } = event;
  host.recordTranscript(
    record,
    toolCallItem({ id, tool, input, channel: tool }),
    toolResultItem(id, { status: 'refused', text: why }),
  );
  return why;
}

/** Records a refusal by the gate in the transcript. Returns its text for the model. */
async function refuseByGate(
  hook: ToolEventContext,
  call: HopgateToolCall,
  { denial, evidence }: RefusedCall,
  otherText: string | null = null,
): Promise<string> {
  const { tool_use_id: id } = hook.event;
  const first = isSubAgent(hook)
    ? null
    : await hook.host.withSession(hook.record, async (session) => firstHopOfWay(session, denial));
  const text = otherText ?? describeCodexRefusal(denial, first, readerOf(hook));
  const refusal = toolResultItem(id, {
    status: 'refused',
    code: denial.code,
    text,
    evidence: entryIdsOrNull(evidence),
  });
  hook.host.recordTranscript(hook.record, calledAs(hook, call), refusal);
  return text;
}

/** Codex's call in hopgate's terms: tool and arguments under their names in the spec. */
const calledAs = ({ event }: ToolEventContext, { tool, args }: HopgateToolCall): RecordedTranscriptItem =>
  toolCallItem({ id: event.tool_use_id, tool, input: args, channel: event.tool_name });

/** Refuses a tool of Codex whose effects hopgate cannot limit. The attempt is recorded as a call of an unknown tool. */
async function refuseUnmapped(hook: ToolEventContext, why: string | null): Promise<RefusalText> {
  const { tool_use_id: id, tool_name: tool, tool_input: input } = hook.event;
  if (await hook.host.withSession(hook.record, (session) => session.admitUncovered({ tool }))) {
    hook.host.recordTranscript(hook.record, toolCallItem({ id, tool, input, channel: tool }));
    return null;
  }
  const { refused, available } = await hook.host.withSession(hook.record, async (session) => ({
    refused: session.why({ tool }) ? await recordCallRefusal(session, { tool, args: {} }) : null,
    available: session.available(),
  }));
  if (!refused) return refuse(hook, refuseUnknownTool(tool, why, available, readerOf(hook)));
  return refuseByGate(
    hook,
    { tool, args: {} },
    refused,
    why === null ? null : refuseUnknownTool(tool, why, available, readerOf(hook)),
  );
}

async function decideSteps(hook: ToolEventContext, steps: readonly ActionStep[]): Promise<RefusalText> {
  const [first, ...more] = steps;
  if (!first) return null;
  // The MCP server decides and records the main agent's calls.
  if (first.how === 'hopgate' && !isSubAgent(hook)) return null;
  // The gate decides first: advice on how to make a refused call would be useless.
  for (const step of steps) {
    const refused = await dryRunCall(hook, step);
    if (refused) return refuseByGate(hook, step, refused);
  }
  if (first.how === 'hopgate') {
    hook.host.expectSubAgentCall(hook.record, { tool: first.tool, args: first.args });
    return null;
  }
  if (first.how === 'native' && more.length === 0) return letRun(hook, first);
  const calls = steps.every(({ byHopgate }) => byHopgate !== null)
    ? steps.flatMap(({ byHopgate }) => byHopgate ?? [])
    : [];
  return refuse(
    hook,
    first.how === 'contained' && more.length === 0
      ? refuseInFavourOfHopgate(calls, codexToolName(hook.host))
      : refuseMultiFilePatch(calls, codexToolName(hook.host)),
  );
}

/** Handles a call that Codex itself runs: decides it, records its intent, and stores the ticket for its result. */
async function letRun(hook: ToolEventContext, { tool, args, byHopgate }: ActionStep): Promise<RefusalText> {
  const { event, host, record, env } = hook;
  if (event.tool_name === 'apply_patch' && env['HOPGATE_CODEX_SANDBOX'] === 'read-only')
    return refuse(hook, refusePatchInReadOnlyRun(byHopgate ?? [{ tool, args }], codexToolName(host)));
  const admitted = await host.withSession(record, (session) => session.admit({ tool, args }));
  if (!admitted.ok) return refuseByGate(hook, { tool, args }, admitted);
  const { tool_use_id: toolUseId } = event;
  await host.storeForCall(record, ticketStorageKey(toolUseId), asJson(admitted.ticket));
  await host.recordEvent(record, { name: ADMITTED, at: new Date().toISOString(), toolUseId });
  host.recordTranscript(record, calledAs(hook, { tool, args }));
  return null;
}
