import { checkCelRule, type FactScope } from '../cel-facts.ts';
import { edgesFromPeripheral } from '../edges-from.ts';
import { getOwn, targetOfHopExit } from '../names.ts';
import type { Edge, FruitType, GateRule, PeripheralSpec, ToolSpec } from '../types.ts';
import type { DefinedSpecNames } from './defined-names.ts';
import type { ReportSpecProblem, SpecPath } from './spec-problem.ts';

type Peripherals = { readonly [id: string]: PeripheralSpec };
/** Collects the problems of each peripheral's file, by the peripheral's id. */
type Reports = { readonly [id: string]: ReportSpecProblem };

/**
 * Reports exits that open nothing, and gates on destinations that no exit opens.
 * @param isSound true if this key of the peripheral had no problem so far; avoids a second report of one problem
 */
export function checkEdges(
  peripherals: Peripherals,
  edges: readonly Edge[],
  reports: Reports,
  isSound: (id: string, key: 'id' | 'entry' | 'exit') => boolean,
): void {
  for (const { id, exits, gates } of Object.values(peripherals)) {
    if (!isSound(id, 'id')) continue;
    const report = reports[id]!;
    for (const { name, bound, opens } of exits) {
      const hop = targetOfHopExit(name);
      if (!bound || hop === null || !opens.some(({ to }) => to === hop)) continue;
      if (!getOwn(peripherals, hop) || !isSound(hop, 'entry')) continue;
      if (edgesFromPeripheral({ edges }, id).some((edge) => edge.exit === name && edge.to === hop)) continue;
      report(
        ['exit', name],
        `${name} opens nothing: ${hop} does not admit ${id}`,
        `add from-${id} to the entry of ${hop}`,
      );
    }
    for (const to of Object.keys(gates)) {
      const delegated = Object.values(peripherals).some(({ delegates }) => delegates?.some((each) => each.to === to));
      if (delegated || peripheralsWithExitTo(peripherals, to).length > 0 || !isSound(id, 'exit')) continue;
      report(['gates', to], `no exit opens "${to}"`, `let an exit open ${to}, or remove the gate`);
    }
  }
}

/** Checks every CEL rule of the peripherals against the facts that it may use. */
export function checkPeripheralCelRules(
  peripherals: Peripherals,
  defined: DefinedSpecNames,
  reports: Reports,
  tools: { readonly [id: string]: ToolSpec },
): void {
  const fruitTypes = fruitTypesOf(defined);
  for (const peripheral of Object.values(peripherals)) {
    const report = reports[peripheral.id]!;
    const scope = { fruit: fruitTypes([peripheral]), peripherals: [...defined.peripherals] };
    for (const { name, opens } of peripheral.exits) {
      opens.forEach(({ when }, index) => {
        const path = opens.length === 1 ? ['exit', name, 'when'] : ['exit', name, index, 'when'];
        if (when !== null) checkRule(report, path, when, scope);
      });
    }
    for (const [tool, gates] of Object.entries(peripheral.calls ?? {})) {
      const args = argsOf(getOwn(tools, tool)?.parameters ?? []);
      checkGates(report, ['calls', tool], gates, { ...scope, args });
    }
    for (const [to, rules] of Object.entries(peripheral.gates)) {
      const fruit = fruitTypes([peripheral, ...peripheralsWithExitTo(peripherals, to)]);
      checkGates(report, ['gates', to], rules, { ...scope, fruit });
    }
  }
}

/** Checks the conditions that a set defines itself; they may use any peripheral's fruit. */
export function checkOwnConditions(
  conditions: { readonly [name: string]: string },
  peripherals: Peripherals,
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): void {
  const scope = { fruit: fruitTypesOf(defined)(Object.values(peripherals)), peripherals: [...defined.peripherals] };
  for (const [name, cel] of Object.entries(conditions)) checkRule(report, ['conditions', name], cel, scope);
}

/** Checks the CEL rules of the tools; they may use any peripheral's fruit. */
export function checkToolCelRules(
  tools: { readonly [id: string]: ToolSpec },
  peripherals: Peripherals,
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): void {
  const scope = { fruit: fruitTypesOf(defined)(Object.values(peripherals)), peripherals: [...defined.peripherals] };
  for (const { id, gates = [], parameters } of Object.values(tools))
    checkGates(report, ['tools', id, 'gates'], gates, { ...scope, args: argsOf(parameters) });
}

function checkGates(report: ReportSpecProblem, at: SpecPath, gates: readonly GateRule[], scope: FactScope): void {
  gates.forEach((gate, index) => {
    if (gate.kind === 'when') checkRule(report, [...at, index, 'when'], gate.cel, scope);
  });
}

function checkRule(report: ReportSpecProblem, at: SpecPath, cel: string, scope: FactScope): void {
  const problem = checkCelRule(cel, scope);
  if (problem) report(at, problem.message, problem.suggestion);
}

const argsOf = (parameters: ToolSpec['parameters']) =>
  Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));

function peripheralsWithExitTo(peripherals: Peripherals, to: string): PeripheralSpec[] {
  return Object.values(peripherals).filter(({ exits }) =>
    exits.some(({ opens }) => opens.some((open) => open.to === to)),
  );
}

/** The fruit fields of several peripherals as one set. A field with several types, or a faulty one, has any type. */
const fruitTypesOf = (defined: DefinedSpecNames) => (peripherals: readonly PeripheralSpec[]) => {
  const types: { [field: string]: FruitType } = {};
  for (const { id, fruit } of peripherals) {
    for (const field of getOwn(defined.fruitFields, id) ?? []) {
      const type = getOwn(fruit, field)?.type ?? 'number';
      const other = getOwn(types, field) ?? type;
      types[field] = JSON.stringify(other) === JSON.stringify(type) ? type : 'number';
    }
  }
  return types;
};
