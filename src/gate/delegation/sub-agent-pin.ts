import { hashSpecs } from '../../spec/hash-specs.ts';
import { getOwn } from '../../spec/names.ts';
import type { Delegate, Mode, ModeGateSpec, PeripheralSpec, ProjectConfig, SpecSet } from '../../spec/types.ts';
import { effectiveScope } from '../decide-step.ts';
import { commonScope } from './common-scope.ts';

/** The spec set and the configuration that a sub-agent's session is pinned to. */
export interface SubAgentPin {
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
}

interface ParentPin extends SubAgentPin {
  /** null outside of any peripheral. */
  readonly peripheral: string | null;
  readonly mode: Mode | null;
}

/**
 * The pin of a sub-agent's session: one peripheral without exits, always in the parent's mode. The pinned peripheral is
 * the peripheral of the delegation; unless the delegation is `own`, it is limited to what the parent's peripheral also
 * allows. Without a delegation, the parent's peripheral is pinned; if the parent is in none, the sub-agent has no
 * tools. A sub-agent ships nothing.
 */
export function makeSubAgentPin(
  { specs, config, peripheral, mode }: ParentPin,
  delegate: Delegate | null,
): SubAgentPin {
  const here = peripheral === null ? undefined : getOwn(specs.peripherals, peripheral);
  const there = delegate && getOwn(specs.peripherals, delegate.to);
  const base = there ?? here ?? Object.values(specs.peripherals)[0];
  if (!base) throw new Error('the spec set has no peripherals');
  const isCut = there && here && delegate?.within !== 'own';
  const { delegates: _, agencies: ____, ...place } = isCut ? cutPeripheral(here, there, { specs, config }) : base;
  const only: PeripheralSpec = {
    ...place,
    tools: here ? place.tools : [],
    scope: withoutShipping(place.scope),
    entry: { sources: [{ kind: 'default' }], conditions: [] },
    exits: [],
    context: {},
    gates: {},
    agents: null,
  };
  const { properties: __, hash: ___, ...rest } = specs;
  const narrow = {
    ...rest,
    modeGate: specs.modeGate && fixedAt(specs.modeGate, mode ?? specs.modeGate.initial),
    peripherals: { [only.id]: only },
    edges: [],
  };
  return {
    specs: { hash: hashSpecs(narrow), ...narrow },
    config: isCut ? { ...config, scopes: withoutScope(config.scopes, only.id) } : config,
  };
}

/** The peripheral `there` with only the tools, the scope and the limits that the parent's `here` also allows. */
function cutPeripheral(here: PeripheralSpec, there: PeripheralSpec, { specs, config }: SubAgentPin): PeripheralSpec {
  const scopes = [here, there].map(({ id }) => effectiveScope(specs, config, id));
  const tools = there.tools.filter((tool) => here.tools.includes(tool));
  const calls = tools.flatMap((tool) => {
    const gates = [...(getOwn(here.calls ?? {}, tool) ?? []), ...(getOwn(there.calls ?? {}, tool) ?? [])];
    return gates.length === 0 ? [] : [[tool, gates] as const];
  });
  return {
    ...there,
    tools,
    scope: { name: `${there.scope.name} within ${here.id}`, rule: commonScope(scopes[0]!, scopes[1]!) },
    ...(calls.length === 0 ? {} : { calls: Object.fromEntries(calls) }),
    limits: {
      steps: lesserLimit(here.limits.steps, there.limits.steps),
      minutes: lesserLimit(here.limits.minutes, there.limits.minutes),
    },
  };
}

/** A deploy scope runs no commands in a sub-agent: only the visit of its parent has the tested and approved tree. */
const withoutShipping = ({ name, rule }: PeripheralSpec['scope']): PeripheralSpec['scope'] => ({
  name,
  rule: rule.command === 'deploy' ? { ...rule, command: 'none' } : rule,
});

const lesserLimit = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** The configuration without the repository's own paths of a peripheral: its common scope already contains them. */
const withoutScope = (scopes: ProjectConfig['scopes'], id: string): ProjectConfig['scopes'] =>
  Object.fromEntries(Object.entries(scopes).filter(([peripheral]) => peripheral !== id));

function fixedAt(modeGate: ModeGateSpec, mode: Mode): ModeGateSpec {
  const peripherals = Object.fromEntries(Object.keys(modeGate.effects).map((each) => [each, null]));
  return { ...modeGate, initial: mode, reset: mode, transitions: [], timeoutMinutes: null, peripherals };
}
