import type { Available, Denial } from '../../gate/denial.ts';
import { describeWay } from '../../gate/describe-denial.ts';
import { listed } from './language/format-words.ts';
import { sentence } from './language/sentence.ts';
import { hopCall, type SessionSituation } from './situation.ts';

/**
 * The text of a refusal for a model: the problem, the remedy, the exact next call, and the calls available now.
 *
 * @param toState the fields that a hop out of this peripheral must state
 */
export function describeRefusal(
  { code, message, remedy, way, available }: Denial,
  toState: SessionSituation['toState'] = [],
): string {
  const [first] = way ?? [];
  const lines = [`refused: ${code}: ${sentence(message)}`, `What to do: ${sentence(remedy)}`];
  if (way && way.length > 0 && !remedy.includes(describeWay(way))) lines.push(`The way there: ${describeWay(way)}.`);
  if (first) lines.push(`It begins with: hop(${JSON.stringify(hopCall(first, first.exit === null ? [] : toState))}).`);
  lines.push(whatIsOpen(available));
  return lines.join('\n');
}

/** The place and the available calls, in one line. */
export function whatIsOpen({ peripheral, mode, tools }: Available): string {
  const where = peripheral === null ? 'outside of any peripheral' : `in ${peripheral}`;
  return `Now: ${where}${mode === null ? '' : `, mode ${mode}`}; tools open: ${listed(tools, 30) || 'none'}.`;
}
