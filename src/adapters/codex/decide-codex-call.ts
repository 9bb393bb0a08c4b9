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
  const at = { event, host, record, env };
  const { tool_use_id: id, tool_name: tool, tool_input: input } = event;
  const action = await host.withSession(record, async (session) => actionOf(event, session, host));
  switch (action.kind) {
    case 'inner':
      // No event names the agent that started a sub-agent, so a sub-agent of a sub-agent would get the rights of the
      // main agent.
      if (isSubAgent(at) && tool.endsWith('spawn_agent')) return refuse(at, refuseCodexSubAgent(tool));
      host.recordTranscript(record, innerCallItem({ id, tool, input, channel: tool }));
      return null;
    case 'ask':
      host.expectSubAgentCall(record, { tool: action.control, args: action.input });
      return null;
    case 'hop':
    case 'mode':
      // A sub-agent's connection belongs to the session of the agent that started it.
      return isSubAgent(at) ? refuse(at, refuseCodexSubAgent(codexToolName(host)(action.kind))) : null;
    case 'unmapped':
      return refuseUnmapped(at, action.why);
    case 'steps':
      return decideSteps(at, action.steps);
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

const readerOf = (at: ToolEventContext): CodexReader => ({
  ourName: codexToolName(at.host),
  isSubAgent: isSubAgent(at),
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
  at: ToolEventContext,
  call: HopgateToolCall,
  { denial, evidence }: RefusedCall,
  otherText: string | null = null,
): Promise<string> {
  const { tool_use_id: id } = at.event;
  const first = isSubAgent(at)
    ? null
    : await at.host.withSession(at.record, async (session) => firstHopOfWay(session, denial));
  const text = otherText ?? describeCodexRefusal(denial, first, readerOf(at));
  const refusal = toolResultItem(id, {
    status: 'refused',
    code: denial.code,
    text,
    evidence: entryIdsOrNull(evidence),
  });
  at.host.recordTranscript(at.record, calledAs(at, call), refusal);
  return text;
}

/** Codex's call in hopgate's terms: tool and arguments under their names in the spec. */
const calledAs = ({ event }: ToolEventContext, { tool, args }: HopgateToolCall): RecordedTranscriptItem =>
  toolCallItem({ id: event.tool_use_id, tool, input: args, channel: event.tool_name });

/** Refuses a tool of Codex whose effects hopgate cannot limit. The attempt is recorded as a call of an unknown tool. */
async function refuseUnmapped(at: ToolEventContext, why: string | null): Promise<RefusalText> {
  const { tool_use_id: id, tool_name: tool, tool_input: input } = at.event;
  if (await at.host.withSession(at.record, (session) => session.admitUncovered({ tool }))) {
    at.host.recordTranscript(at.record, toolCallItem({ id, tool, input, channel: tool }));
    return null;
  }
  const { refused, available } = await at.host.withSession(at.record, async (session) => ({
    refused: session.why({ tool }) ? await recordCallRefusal(session, { tool, args: {} }) : null,
    available: session.available(),
  }));
  if (!refused) return refuse(at, refuseUnknownTool(tool, why, available, readerOf(at)));
  return refuseByGate(
    at,
    { tool, args: {} },
    refused,
    why === null ? null : refuseUnknownTool(tool, why, available, readerOf(at)),
  );
}

async function decideSteps(at: ToolEventContext, steps: readonly ActionStep[]): Promise<RefusalText> {
  const [first, ...more] = steps;
  if (!first) return null;
  // The MCP server decides and records the main agent's calls.
  if (first.how === 'hopgate' && !isSubAgent(at)) return null;
  // The gate decides first: advice on how to make a refused call would be useless.
  for (const step of steps) {
    const refused = await dryRunCall(at, step);
    if (refused) return refuseByGate(at, step, refused);
  }
  if (first.how === 'hopgate') {
    at.host.expectSubAgentCall(at.record, { tool: first.tool, args: first.args });
    return null;
  }
  if (first.how === 'native' && more.length === 0) return letRun(at, first);
  const calls = steps.every(({ byHopgate }) => byHopgate !== null)
    ? steps.flatMap(({ byHopgate }) => byHopgate ?? [])
    : [];
  return refuse(
    at,
    first.how === 'contained' && more.length === 0
      ? refuseInFavourOfHopgate(calls, codexToolName(at.host))
      : refuseMultiFilePatch(calls, codexToolName(at.host)),
  );
}

/** Handles a call that Codex itself runs: decides it, records its intent, and stores the ticket for its result. */
async function letRun(at: ToolEventContext, { tool, args, byHopgate }: ActionStep): Promise<RefusalText> {
  const { event, host, record, env } = at;
  if (event.tool_name === 'apply_patch' && env['HOPGATE_CODEX_SANDBOX'] === 'read-only')
    return refuse(at, refusePatchInReadOnlyRun(byHopgate ?? [{ tool, args }], codexToolName(host)));
  const admitted = await host.withSession(record, (session) => session.admit({ tool, args }));
  if (!admitted.ok) return refuseByGate(at, { tool, args }, admitted);
  const { tool_use_id: toolUseId } = event;
  await host.storeForCall(record, ticketStorageKey(toolUseId), asJson(admitted.ticket));
  await host.recordEvent(record, { name: ADMITTED, at: new Date().toISOString(), toolUseId });
  host.recordTranscript(record, calledAs(at, { tool, args }));
  return null;
}
