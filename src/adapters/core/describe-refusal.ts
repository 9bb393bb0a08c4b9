import type { Available, Denial } from '../../gate/denial.ts';
import { describeWay } from '../../gate/describe-denial.ts';
import { listed } from './in-words.ts';
import { hopCall } from './situation.ts';

/** A refusal as a model reads it: what is wrong, what to do, the exact call that begins the way there, and what is open now. */
export function describeRefusal({ code, message, remedy, way, available }: Denial): string {
  const [first] = way ?? [];
  const lines = [`refused: ${code}: ${message}.`, `What to do: ${remedy.replace(/[.]$/, '')}.`];
  if (way && way.length > 0 && !remedy.includes(describeWay(way))) lines.push(`The way there: ${describeWay(way)}.`);
  if (first) lines.push(`It begins with: hop(${JSON.stringify(hopCall(first))}).`);
  lines.push(whatIsOpen(available));
  return lines.join('\n');
}

/** Where one stands and what can be called, in a line. */
export function whatIsOpen({ peripheral, mode, tools }: Available): string {
  const where = peripheral === null ? 'outside of any peripheral' : `in ${peripheral}`;
  return `Now: ${where}${mode === null ? '' : `, mode ${mode}`}; tools open: ${listed(tools, 30) || 'none'}.`;
}
