import { asJson } from '../../base/json.ts';
import type { SpecSet } from '../../spec/types.ts';
import { compileMachineConfigs } from '../compile-specs.ts';
import { GENERATED_HEADER, toCamelCase } from '../generate-files.ts';
import { listMachineNames } from '../machine-json.ts';
import { printStringLiteral, printTypeScriptLiteral } from '../print-literal.ts';

/**
 * Renders a machine as one module for Stately Studio's code import and its editor extension: a literal
 * `setup(...).createMachine(...)` that imports only xstate. Its guards replace hopgate's, which those tools do not
 * have: each allows an event with `met: true`. Pure. Throws if the spec set has no machine of this id.
 */
export function renderStately(specs: SpecSet, id: string): string {
  const config = compileMachineConfigs(specs).find((one) => one.id === id);
  if (!config) throw new Error(`there is no machine "${id}"`);
  const names = listMachineNames(config, 'guards');
  const call = `export const ${toCamelCase(id)} = setup({${names.length === 0 ? '' : ' guards '}}).createMachine(`;
  return `${GENERATED_HEADER}${specs.hash.slice(0, 12)}: ${id}, for Stately's tools.
import { setup } from 'xstate';
${names.length === 0 ? '' : guardsOf(names)}
${call}${printTypeScriptLiteral(asJson(config), 0, call.length, 2)});
`;
}

const guardsOf = (names: readonly string[]): string => `
// hopgate decides these guards by the recorded facts of the session (see its \`guards\`). In a simulation, put
// \`met: true\` into the event.
const met = ({ event }: { event: { type: string; met?: boolean } }, _: { all: readonly object[] }): boolean => event.met === true;
const guards = {
${names.map((name) => `  ${printStringLiteral(name)}: met,\n`).join('')}};
`;
