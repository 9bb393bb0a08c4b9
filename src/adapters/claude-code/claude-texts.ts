import type { Denial } from '../../gate/denial.ts';
import { BACKGROUND_TOOL_ID } from '../../spec/policy/command-tools.ts';
import { renderDenialLines } from '../core/describe-refusal.ts';
import type { ClaudeToolName } from './claude-tool-name.ts';

/** The text of a denial for a model in Claude Code: the problem, the remedy, and the tools to use. */
export function describeClaudeRefusal(
  denial: Denial,
  { isSubAgent, first }: { readonly isSubAgent: boolean; readonly first: object | null },
  ourName: ClaudeToolName,
): string {
  const lines = renderDenialLines('hopgate', denial);
  lines.push(
    isSubAgent
      ? 'You are a sub-agent: you can neither hop nor change the mode. Report this to the agent that started you.'
      : `${first ? `First call: ${ourName('hop')}(${JSON.stringify(first)}). ` : ''}hopgate's own tools are called ${ourName('…')} here: ${ourName('hop')}, ${ourName('mode')}, ${ourName('status')}.`,
  );
  return lines.join('\n');
}

/** The refusal of one of Claude Code's own tools; it names the call of a hopgate tool to make instead. */
export const refuseClaudeTool = (
  tool: string,
  hopgateCall: { readonly tool: string; readonly args: unknown },
  ourName: ClaudeToolName,
): string =>
  `hopgate: ${tool} does not run directly here.\nWhat to do: call ${ourName(hopgateCall.tool)} with ${JSON.stringify(hopgateCall.args)}.`;

/** The refusal of a hopgate tool for which Claude Code has an equivalent tool of its own. */
export const refuseInFavourOfNativeTool = (
  tool: string,
  native: { readonly tool: string; readonly input: unknown },
): string =>
  `hopgate: ${tool} is ${native.tool} here, so that the user's own rules apply to it.\nWhat to do: call ${native.tool} with ${JSON.stringify(native.input)}.`;

/** @param why completes "the tool …"; null if the tool is unknown */
export const refuseUnavailableTool = (tool: string, why: string | null, ourName: ClaudeToolName): string =>
  `hopgate: ${tool} ${why ?? 'is outside of every peripheral'}.\nWhat to do: use the tools of this peripheral; ${ourName('status')} lists them.`;

export const refuseClaudeSkill = ({ skill }: { readonly skill: string }, why: string): string =>
  `hopgate: the skill "${skill}" ${why.replace('; ', '.\nWhat to do: ')}.`;

export const refuseClaudeSubAgent = (tool: string): string =>
  `hopgate: a sub-agent can neither hop nor change the mode nor start sub-agents (${tool}).\nWhat to do: stay within this envelope, and report to the agent that started you what else is needed.`;

export const REFUSED_IN_OTHER_TREE =
  'hopgate: you work in another working tree, where the limits of this session do not apply.\nWhat to do: report this to the agent that started you; it needs an agent whose definition has no isolation.';

/** Explains how to call the peripheral's tools in Claude Code; appended to the prompt section. */
export function explainClaudeTools(isSubAgent: boolean, ourName: ClaudeToolName): string {
  return [
    'In Claude Code, call Read, Edit, Write and Bash for the tools read, edit, write and bash of this peripheral; each call is checked.',
    'Bash runs in a sandbox, from the root: no network, masked files are empty, only changes within the scope are kept, every process ends with the call. Run the configured test, git and deploy commands with it too.',
    isSubAgent
      ? `The other tools are ${ourName('…')}. You are a sub-agent: you cannot hop or change the mode.`
      : `The other tools are ${ourName('hop')}, and likewise mode, status, why and what else is listed above; a tool search finds them. A refusal says what to do instead; do it.`,
  ].join('\n');
}

export const explainBackgroundCommand = (ourName: ClaudeToolName): string =>
  `hopgate: this command runs in the background, in its own sandbox and network. It keeps no change of the tree, and it is stopped when this visit ends, at the next hop at the latest. To read its output, call ${ourName(BACKGROUND_TOOL_ID)} with {"job":"…"}, without job for the list; its output file cannot be read here.`;

/** The text for the model if its command does not run in the background, although the model requested that. */
export const RAN_IN_FOREGROUND_NOTE =
  'hopgate: this command runs in the foreground, although run_in_background was requested: tests, git and deploy commands are recorded with their results. Its remaining processes are killed when it ends.';
