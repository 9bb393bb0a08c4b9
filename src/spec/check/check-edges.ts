import { checkCelRule } from '../cel-facts.ts';
import { edgesFromPeripheral } from '../edges-from.ts';
import { getOwn } from '../names.ts';
import { targetOfHopExit } from '../resolve/derive-edges.ts';
import type { Edge, FruitType, PeripheralSpec, ToolSpec } from '../types.ts';
import type { DefinedSpecNames } from './defined-names.ts';
import type { ReportSpecProblem } from './spec-problem.ts';

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
  const ids = [...defined.peripherals];
  const fruitTypes = fruitTypesOf(defined);
  for (const peripheral of Object.values(peripherals)) {
    const report = reports[peripheral.id]!;
    for (const { name, opens } of peripheral.exits) {
      opens.forEach(({ when }, index) => {
        if (when === null) return;
        const problem = checkCelRule(when, { fruit: fruitTypes([peripheral]), peripherals: ids });
        const path = opens.length === 1 ? ['exit', name, 'when'] : ['exit', name, index, 'when'];
        if (problem) report(path, problem.message, problem.suggestion);
      });
    }
    for (const [tool, gates] of Object.entries(peripheral.calls ?? {})) {
      const args = argsOf(getOwn(tools, tool)?.parameters ?? []);
      gates.forEach((gate, index) => {
        if (gate.kind !== 'when') return;
        const problem = checkCelRule(gate.cel, { fruit: fruitTypes([peripheral]), peripherals: ids, args });
        if (problem) report(['calls', tool, index, 'when'], problem.message, problem.suggestion);
      });
    }
    for (const [to, rules] of Object.entries(peripheral.gates)) {
      const fruit = fruitTypes([peripheral, ...peripheralsWithExitTo(peripherals, to)]);
      rules.forEach((rule, index) => {
        const problem = rule.kind === 'when' ? checkCelRule(rule.cel, { fruit, peripherals: ids }) : null;
        if (problem) report(['gates', to, index, 'when'], problem.message, problem.suggestion);
      });
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
  for (const [name, cel] of Object.entries(conditions)) {
    const problem = checkCelRule(cel, scope);
    if (problem) report(['conditions', name], problem.message, problem.suggestion);
  }
}

/** Checks the CEL rules of the tools; they may use any peripheral's fruit. */
export function checkToolCelRules(
  tools: { readonly [id: string]: ToolSpec },
  peripherals: Peripherals,
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): void {
  const fruit = fruitTypesOf(defined)(Object.values(peripherals));
  for (const { id, gates = [], parameters } of Object.values(tools)) {
    const args = argsOf(parameters);
    gates.forEach((gate, index) => {
      const problem =
        gate.kind === 'when' ? checkCelRule(gate.cel, { fruit, peripherals: [...defined.peripherals], args }) : null;
      if (problem) report(['tools', id, 'gates', index, 'when'], problem.message, problem.suggestion);
    });
  }
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
