import type { Denial, WayLeg } from '../../gate/denial.ts';
import { describeWay } from '../../gate/describe-denial.ts';
import { MCP_SERVER } from './overrides.ts';

/** A tool of hopgate's as Codex names it. */
export const mcpName = (tool: string): string => `mcp__${MCP_SERVER}__${tool}`;

const list = (tools: readonly string[]): string => tools.map(mcpName).join(', ') || 'none';

/** A refusal of the gate's, for a model that works in Codex. */
export function describeRefusal({ code, message, remedy, way, available }: Denial): string {
  const lines = [`${code}: ${message}.`, `What to do: ${remedy}.`];
  if (way && way.length > 0 && !remedy.includes(describeWay(way))) lines.push(`The way there: ${describeWay(way)}.`);
  lines.push(`Open now: ${list(available.tools)}; to move: ${list(['hop', 'mode'])}.`);
  return lines.join('\n');
}

/** Codex's own shell does not run, although commands are granted here: hopgate's do, contained. */
export const useOurShell = (tools: readonly string[]): string =>
  `Codex's own shell does not run here. Call ${tools.map(mcpName).join(' or ')} instead: it runs the command contained, and its result is recorded.`;

export const patchNotRead = (line: number, why: string): string =>
  `This patch was not understood (line ${line}: ${why}), so it is not applied. Call ${mcpName('edit')} {path, old, new}, or ${mcpName('write')} {path, content}.`;

export const patchTooMuch = (what: string): string =>
  `apply_patch runs here for one change to one file at a time, and this patch ${what}. Send one such patch after the other, or call ${mcpName('edit')} {path, old, new} and ${mcpName('write')} {path, content}; files are moved and deleted by ${mcpName('bash')}.`;

export const patchInReadOnly = (tool: string): string =>
  `Codex's own sandbox is read-only in this run, so apply_patch cannot work. Call ${mcpName(tool)} instead: it is open here.`;

export const subAgentStays = (tool: string): string =>
  `${mcpName(tool)} would move the session of the agent that started you. Do your task where you are and report; it decides where to go.`;

/** How hopgate looks from inside Codex: added to what a model is told on entry. */
export const HOW_IN_CODEX = `In Codex, these are the tools of the MCP server "${MCP_SERVER}": read is ${mcpName('read')}, hop is ${mcpName('hop')}, and so on. Codex's own shell is refused. apply_patch works only where edit and write are open, for one change to one file at a time.`;

/** Asked once, when the model would end its turn. */
export function beforeYouStop(peripheral: string, toReflect: readonly WayLeg[]): string {
  const way = toReflect[0];
  const close = way
    ? `${mcpName('hop')} to ${way.to}${way.exit ? ` by ${way.exit}` : ''}, and say there what was learned (the PAR)`
    : `leave ${peripheral} by one of its exits (${mcpName('status')} lists them)`;
  return `The session is still in "${peripheral}". If the work is done, ${close}. If it is not, or if the person has to answer something first, say so and stop; you are not asked again.`;
}
