import type { Available, Denial } from '../../gate/denial.ts';
import { describeWay } from '../../gate/describe-denial.ts';
import { listed } from './language/format-words.ts';
import { sentence } from './language/sentence.ts';
import { hopCall, type SessionSituation } from './situation.ts';

/**
 * A refusal as a model reads it: what is wrong, what to do, the exact call that begins the way there, and what is open now.
 *
 * @param toState what has to be stated with a hop out of here
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

/** Where one stands and what can be called, in a line. */
export function whatIsOpen({ peripheral, mode, tools }: Available): string {
  const where = peripheral === null ? 'outside of any peripheral' : `in ${peripheral}`;
  return `Now: ${where}${mode === null ? '' : `, mode ${mode}`}; tools open: ${listed(tools, 30) || 'none'}.`;
}
