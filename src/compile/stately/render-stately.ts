import type { Json, SpecSet } from '../../spec/types.ts';
import { GENERATED_BY } from '../generate-files.ts';
import { compileHopGraph } from '../hop-graph.ts';
import { printLiteral } from '../print-literal.ts';

/**
 * Renders the hop graph as one module for Stately Studio's code import and its editor extension: a literal
 * `setup(...).createMachine(...)` that imports only xstate. Its guard replaces hopgate's, which those tools do not
 * have: it allows an event with `met: true`. Pure.
 */
export function renderStately(specs: SpecSet): string {
  const call = 'export const hopGraph = setup({ guards: { requirements: met } }).createMachine(';
  return `${GENERATED_BY}${specs.hash.slice(0, 12)}: the hop graph, for Stately's tools.
import { setup } from 'xstate';

// hopgate decides this from what happened in the session (see its \`guards\`); in a simulation, say \`met: true\` in
// the event.
const met = ({ event }: { event: { type: string; met?: boolean } }, _: { all: readonly object[] }): boolean => event.met === true;

${call}${printLiteral(compileHopGraph(specs) as unknown as Json, 0, call.length, 2)});
`;
}
