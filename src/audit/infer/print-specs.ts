import { stringify } from 'yaml';
import { mapValues } from '../../base/map-values.ts';
import { formatEntrySource } from '../../spec/names.ts';
import type {
  FruitField,
  FruitType,
  GateRule,
  Json,
  PeripheralSpec,
  SpecSet,
  ToolGate,
  ToolSpec,
} from '../../spec/types.ts';

type Plain = { [key: string]: Json };

/** A spec set as YAML: the text of each file by its name. Each scope gets the name of its peripheral. */
export function printSpecs(specs: SpecSet): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const put = (name: string, value: Plain) => files.set(name, stringify(value, { lineWidth: 140 }));
  if (specs.modeGate) put('gate.yaml', gate(specs.modeGate));
  put('tools.yaml', { tools: mapValues(specs.tools, tool) });
  const scopes = mapValues(specs.peripherals, ({ scope: { rule } }) => {
    const { resource, agency: _, ...rest } = rule;
    return { ...rest, write: [...rule.write], ...(resource === undefined ? {} : { resource: [...resource] }) };
  });
  put('scopes.yaml', { scopes });
  if (Object.keys(specs.conditions).length > 0) put('conditions.yaml', { conditions: { ...specs.conditions } });
  for (const spec of Object.values(specs.peripherals)) put(`peripherals/${spec.id}.yaml`, peripheral(spec));
  return files;
}

function gate({
  initial,
  effects,
  peripherals,
  transitions,
  reset,
  timeoutMinutes,
}: NonNullable<SpecSet['modeGate']>): Plain {
  const modes = Object.fromEntries(
    Object.entries(effects).map(([mode, allowedEffects]) => {
      const allowed = peripherals[mode] ?? null;
      return [mode, { effects: [...allowedEffects], ...(allowed === null ? {} : { peripherals: [...allowed] }) }];
    }),
  );
  return {
    initial,
    modes,
    transitions: transitions.map(({ from, to, approval, summary }) => ({
      from,
      to,
      ...(approval === null ? {} : { approval }),
      ...(summary ? { summary } : {}),
    })),
    reset,
    ...(timeoutMinutes === null ? {} : { 'timeout-minutes': timeoutMinutes }),
  };
}

const tool = ({ purpose, effect, parameters, limits, upstream, gates, observes, state }: ToolSpec): Plain => ({
  purpose,
  effect,
  ...(upstream === undefined ? {} : { upstream: boundTo(upstream) }),
  parameters: parameters.map(({ name, as, role, description, schema, required }) => ({
    name,
    ...(as === undefined ? {} : { as }),
    role,
    description,
    ...(JSON.stringify(schema) === '{"type":"string"}' ? {} : { schema: { ...schema } }),
    ...(required ? {} : { optional: true }),
  })),
  limits: { seconds: limits.seconds, 'output-bytes': limits.outputBytes },
  ...(gates === undefined ? {} : { gates: gates.map(callGate) }),
  ...(observes === undefined ? {} : { observes: fieldTypes(observes) }),
  ...(state === undefined ? {} : { state: fieldTypes(state) }),
});

const callGate = (gate: ToolGate): Plain => (gate.kind === 'when' ? { when: gate.cel } : { approval: gate.by });
const fieldTypes = (fields: { readonly [field: string]: FruitType }): Plain =>
  mapValues(fields, (type): Json => (typeof type === 'string' ? type : [...type]));

const boundTo = ({ server, tool, schemaHash, folders }: NonNullable<ToolSpec['upstream']>): Plain => ({
  server,
  tool,
  ...(schemaHash === null ? {} : { 'schema-hash': schemaHash }),
  ...(folders === 'contents' ? {} : { folders }),
});

function peripheral(spec: PeripheralSpec): Plain {
  const { id, purpose, tools, entry, exits, context, fruit, calls, gates, limits, agents, config, output } = spec;
  const delegates = [
    ...(spec.delegates ?? []).map(({ to, within }): Json => (within === 'own' ? { to, within } : to)),
    ...(spec.agencies ?? []).map(({ to: agency, within }): Json => ({ agency, within })),
  ];
  const limited = {
    ...(limits.steps === null ? {} : { steps: limits.steps }),
    ...(limits.minutes === null ? {} : { minutes: limits.minutes }),
  };
  return {
    id,
    purpose,
    tools: [...tools],
    scope: id,
    entry: [...entry.sources.map(formatEntrySource), ...entry.conditions],
    exit: Object.fromEntries(
      exits.map(({ name, opens }) => [name, opens.map(({ to, when }) => (when === null ? to : { to, when }))]),
    ),
    context: mapValues(context, ({ source, optional }) => {
      const take =
        source.kind === 'fruit'
          ? `from-${source.peripheral}`
          : source.kind === 'inherit'
            ? 'inherit'
            : 'fetch-from-musn';
      return optional ? { take, optional } : take;
    }),
    fruit: mapValues(fruit, (field, name) => fruitField(name, field)),
    ...(calls === undefined ? {} : { calls: mapValues(calls, (rules) => rules.map(callGate)) }),
    ...(Object.keys(gates).length === 0 ? {} : { gates: mapValues(gates, (rules) => rules.map(gateRule)) }),
    ...(spec.delegates || delegates.length > 0 ? { delegates } : {}),
    ...(Object.keys(limited).length === 0 ? {} : { limits: limited }),
    ...(agents === null ? {} : { agents: [...agents] }),
    ...(Object.keys(config).length === 0 ? {} : { config: { ...config } }),
    ...(output === null ? {} : { output: { ...output } }),
  };
}

function fruitField(name: string, field: FruitField): Plain {
  const type: Json = typeof field.type === 'string' ? field.type : [...field.type];
  if (field.kind === 'stated') return { stated: type, ...(field.optional ? { optional: true } : {}) };
  return { observed: type, ...(field.from === name ? {} : { from: field.from }) };
}

function gateRule(rule: GateRule): Plain {
  if (rule.kind === 'approval') return { approval: rule.by };
  if (rule.kind === 'when') return { when: rule.cel };
  return { pattern: rule.pattern, is: rule.is };
}
