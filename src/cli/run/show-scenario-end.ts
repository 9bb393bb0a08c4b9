import { toBody } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import type { Fields } from '../../spec/types.ts';
import type { ParameterOrderOfTool } from '../../view/format-call.ts';
import { outlineVisits } from '../../view/outline-thread.ts';
import { summariseValue } from '../../view/summarise-value.ts';
import { formatHeading, type Io, print } from '../io.ts';
import { printTable, terminalColumns } from '../table.ts';
import { printFindings } from '../thread/print-findings.ts';
import { renderThread } from '../thread/render-thread.ts';

export const fruitsOfVisits = (evidence: readonly Entry[]): { peripheral: string; fruit: Fields }[] =>
  evidence.flatMap(({ body }) => {
    const typed = toBody(body);
    return typed?.event === 'stop' ? [{ peripheral: typed.peripheral, fruit: typed.fruit }] : [];
  });

/** Prints the end of a run: the thread, the fruits, and the path of the evidence. */
export function showScenarioEnd(
  io: Io,
  evidence: readonly Entry[],
  order: ParameterOrderOfTool,
  fields: { readonly [name: string]: string },
): void {
  print(io);
  print(io, formatHeading(io, 'Thread'));
  print(io, renderThread(io, outlineVisits(evidence, order), terminalColumns(io)));
  printFindings(io, evidence);
  print(io);
  print(io, formatHeading(io, 'Fruits'));
  const rows = fruitsOfVisits(evidence).map(({ peripheral, fruit }) => [
    ['cyan', peripheral] as const,
    Object.entries(fruit)
      .map(([field, value]) => `${field}: ${summariseValue(value)}`)
      .join(', '),
  ]);
  printTable(io, ['peripheral', 'fruit'], rows);
  print(io);
  print(io, formatHeading(io, 'Evidence'));
  for (const [name, value] of Object.entries(fields)) print(io, `  ${name.padEnd(12)}${value}`);
}
