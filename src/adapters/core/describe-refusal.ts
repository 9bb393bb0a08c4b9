import type { Available, Denial } from '../../gate/denial.ts';
import { describeWay } from '../../gate/describe-denial.ts';
import type { Fields } from '../../spec/types.ts';
import { joinList } from './language/format-words.ts';

/**
 * The text of a refusal for a model: the problem, the remedy, the exact next call, and the calls available now.
 * @param first the arguments of the first hop on the suggested path; null if no path is suggested
 */
export function describeRefusal(denial: Denial, first: Fields | null): string {
  const lines = renderDenialLines('refused', denial);
  if (first) lines.push(`First call: hop(${JSON.stringify(first)}).`);
  lines.push(describeAvailableCalls(denial.available));
  return lines.join('\n');
}

/** The problem, the remedy, and the shortest path unless the remedy contains it; one line each. */
export function renderDenialLines(prefix: string, { code, message, remedy, way }: Denial): string[] {
  const lines = [`${prefix}${prefix && ': '}${code}: ${sentence(message)}`, `What to do: ${sentence(remedy)}`];
  if (way && way.length > 0 && !remedy.includes(describeWay(way))) lines.push(`Shortest path: ${describeWay(way)}.`);
  return lines;
}

export function describeAvailableCalls({ peripheral, mode, tools }: Available): string {
  const where = peripheral === null ? 'outside of any peripheral' : `in ${peripheral}`;
  return `Now: ${where}${mode === null ? '' : `, mode ${mode}`}; tools open: ${joinList(tools, 30) || 'none'}.`;
}

/** Ends a denial's message or remedy with a period, unless it has an end mark. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
