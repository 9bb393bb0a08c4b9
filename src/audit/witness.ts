import type { SpecSet } from '../spec/types.ts';

/**
 * What a command tool's report is believed of, by the scope of the peripheral: test runs where the scope runs tests, shipping where it ships.
 * Elsewhere its words are an output like any other.
 */
export function witnessOf({ peripherals, tools }: SpecSet, peripheral: string, tool: string): 'test' | 'deploy' | null {
  const command = Object.hasOwn(peripherals, peripheral) ? peripherals[peripheral]!.scope.rule.command : null;
  const runsCommands = Object.hasOwn(tools, tool) && tools[tool]!.parameters.some(({ role }) => role === 'command');
  return runsCommands && (command === 'test' || command === 'deploy') ? command : null;
}
