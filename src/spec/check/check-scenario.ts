import { suggest } from '../names.ts';
import type { Scenario } from '../schema/scenario-file.ts';
import type { SpecSet } from '../types.ts';
import type { SpecIssue } from './issues.ts';

/**
 * Returns the names in a scenario that its spec set lacks. Steps that expect a denial may name anything, and a scenario
 * for another spec set is not checked. Pure.
 */
export function checkScenario(file: string, { specs: other, steps }: Scenario, specs: SpecSet): readonly SpecIssue[] {
  if (other !== null) return [];
  const { peripherals, tools } = specs;
  return steps.flatMap(({ action, expect, line }, index): SpecIssue[] => {
    if (expect && 'denied' in expect) return [];
    const at = { file, path: `steps.${index}`, ...(line === null ? {} : { line }) };
    const among = (what: string, name: string, known: readonly string[]): SpecIssue[] =>
      known.includes(name)
        ? []
        : [{ ...at, message: `there is no ${what} "${name}"`, suggestion: suggest(name, known) }];
    switch (action.verb) {
      case 'start':
        return among('peripheral', action.peripheral, Object.keys(peripherals));
      case 'step':
        return among('tool', action.tool, Object.keys(tools));
      case 'hop': {
        const edges = specs.edges.filter(({ to }) => to === action.to);
        const lost = among('peripheral', action.to, Object.keys(peripherals));
        const exits = [...new Set(edges.map(({ exit }) => exit))];
        return lost.length > 0 || action.exit === undefined ? lost : among(`exit to ${action.to}`, action.exit, exits);
      }
      case 'mode':
        return among('mode', action.to, Object.keys(specs.modeGate?.effects ?? {}));
      default:
        return [];
    }
  });
}
