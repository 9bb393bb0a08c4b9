import type { Available, Denial } from '../../gate/denial.ts';
import { userChosenServerName } from '../core/calls/mcp-name.ts';
import type { HopgateToolCall } from '../core/calls/tool-call-to-action.ts';
import { renderDenialLines } from '../core/describe-refusal.ts';
import type { UnreviewedWork } from '../core/unreviewed-work.ts';

/** Returns the name by which a model in Codex calls a hopgate tool: Codex writes `_` for `-`. */
export type CodexToolName = (tool: string) => string;
export const codexToolName =
  ({ server }: { readonly server: string }): CodexToolName =>
  (tool) =>
    `${userChosenServerName(server).prefix}${tool.replaceAll('-', '_')}`;

/** The agent that reads a text: the name of each hopgate tool for it, and whether it is a sub-agent. */
export interface CodexReader {
  readonly ourName: CodexToolName;
  readonly isSubAgent: boolean;
}

/** The tools that are available now, and how to get others. */
const describeOpen = (tools: readonly string[], { ourName, isSubAgent }: CodexReader): string =>
  `${tools.map(ourName).join(', ') || 'none'}; ${isSubAgent ? 'a sub-agent can neither hop nor change the mode: report what else is needed to the agent that started you' : `to move: ${ourName('hop')}, ${ourName('mode')}`}.`;

/** The text of a refusal by the gate, for a model in Codex. */
export function describeCodexRefusal(denial: Denial, first: object | null, reader: CodexReader): string {
  const lines = renderDenialLines('', denial);
  if (first) lines.push(`First call: ${reader.ourName('hop')}(${JSON.stringify(first)}).`);
  lines.push(`Open now: ${describeOpen(denial.available.tools, reader)}`);
  return lines.join('\n');
}

/** The refusal of a call that only hopgate's tools carry out here; it names the equivalent calls. */
export const refuseInFavourOfHopgate = (calls: readonly HopgateToolCall[], ourName: CodexToolName): string =>
  `Codex does not run this directly here: hopgate runs it in the sandbox and records the result.\nWhat to do: call ${spellCalls(calls, ourName)}.`;

/** Refuses a patch of several files, or one that moves or deletes: only a change of one file can be recorded. */
export const refuseMultiFilePatch = (calls: readonly HopgateToolCall[], ourName: CodexToolName): string =>
  `apply_patch runs here for one file at a time, and neither moves nor deletes.\nWhat to do: send a patch for each file${calls.length > 0 ? `, or call ${spellCalls(calls, ourName)}` : ''}.`;

/** Arguments longer than this many characters are not repeated to the model. */
const MAX_ARGUMENTS = 400;

function spellCalls(calls: readonly HopgateToolCall[], ourName: CodexToolName): string {
  return calls
    .map(({ tool, args }) => {
      const text = JSON.stringify(args);
      return `${ourName(tool)}${text.length > MAX_ARGUMENTS ? '' : ` with ${text}`}`;
    })
    .join(', then ');
}

export const refusePatchInReadOnlyRun = (calls: readonly HopgateToolCall[], ourName: CodexToolName): string =>
  `Codex's own sandbox is read-only in this run, so apply_patch cannot work.\nWhat to do: call ${spellCalls(calls, ourName)} instead; it is open here.`;

export const refuseUnknownTool = (
  tool: string,
  why: string | null,
  { tools }: Pick<Available, 'tools'>,
  reader: CodexReader,
): string => `${tool} ${why ?? 'is not in the specs'}.\nWhat to do: use an open tool: ${describeOpen(tools, reader)}`;

export const refuseCodexSubAgent = (tool: string): string =>
  `A sub-agent can neither hop nor change the mode nor start sub-agents (${tool}).\nWhat to do: do your task where you are, and report to the agent that started you what else is needed.`;

/** Explains hopgate in Codex; added to the prompt on entry. */
export const explainCodexTools = (server: string): string =>
  `These are tools of the MCP server "${server}". Codex's own shell is refused, even if other instructions mention it; run commands with the tools above. apply_patch works only if edit and write are open, for one file at a time.`;

/** The question to a model that ends its turn with unreviewed work. It is asked once per conversation. */
export function askAgentToReview({ peripheral, hop }: UnreviewedWork, ourName: CodexToolName): string {
  const howToEnd = hop
    ? `call ${ourName('hop')} with ${JSON.stringify(hop)}, and say there what was learned (the PAR)`
    : `leave ${peripheral ?? 'here'} by one of its exits (${ourName('status')} lists them)`;
  return `Nobody has reviewed the work of this session, which is in "${peripheral ?? 'no peripheral'}". If it is done, ${howToEnd}. If it is not, or if the person must answer first, say so and stop; you are not asked again.`;
}
