import { describeSimilarName } from '../names.ts';
import type { Scenario } from '../schema/scenario-file.ts';
import type { SpecSet } from '../types.ts';
import type { SpecProblem } from './spec-problem.ts';

/**
 * Reports the names in a scenario that its spec set lacks, and the codes that no denial has. In a step that expects a
 * denial, only the code is checked. A scenario for another spec set is not checked. Pure.
 * @param codes the codes that a denial may have
 */
export function checkScenario(
  file: string,
  { specs: other, steps }: Scenario,
  specs: SpecSet,
  codes: readonly string[],
): readonly SpecProblem[] {
  if (other !== null) return [];
  const { peripherals, tools } = specs;
  return steps.flatMap(({ action, expect, line }, index): SpecProblem[] => {
    const at = { file, path: `steps.${index}`, ...(line === null ? {} : { line }) };
    const among = (what: string, name: string, names: readonly string[]): SpecProblem[] =>
      names.includes(name)
        ? []
        : [{ ...at, message: `there is no ${what} "${name}"`, suggestion: describeSimilarName(name, names) }];
    if (expect && 'denied' in expect) return among('code of a denial', expect.denied, codes);
    switch (action.verb) {
      case 'start':
        return among('peripheral', action.peripheral, Object.keys(peripherals));
      case 'step':
        return Object.hasOwn(tools, action.tool)
          ? argumentNames(action.args).flatMap((name) =>
              among(
                `argument of ${action.tool}`,
                name,
                tools[action.tool]!.parameters.map((each) => each.name),
              ),
            )
          : among('tool', action.tool, Object.keys(tools));
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

/** The names of a step's arguments; none if the arguments are a list. */
const argumentNames = (args: object): readonly string[] => (Array.isArray(args) ? [] : Object.keys(args));
