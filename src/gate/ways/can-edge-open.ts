import { getOrInsert } from '../../base/get-or-insert.ts';
import { valueOfLazy } from '../../base/lazy.ts';
import { effectsOfMode } from '../../spec/mode-way.ts';
import { getOwn } from '../../spec/names.ts';
import { takesCommandArgument } from '../../spec/policy/argument-roles.ts';
import { CHECK_PASSED_VALUE, checkFieldOfCondition, fieldsReportedByTools } from '../../spec/reported-fields.ts';
import { type Edge, type Mode, type SpecSet, TESTS_PASSED_CONDITION } from '../../spec/types.ts';
import { startRequirements } from '../requirements/edge-requirements.ts';
import { mayRuleHold } from '../requirements/may-rule-hold.ts';
import { unmetRequirements } from '../requirements/requirement.ts';
import { collectCelFacts, collectRequirementFacts } from '../requirements/requirement-facts.ts';
import { isTimeUp, type SessionView } from '../session-view.ts';
import { transferContext } from '../transfer-context.ts';

/**
 * The things that a path brings about and a later leg may need: a field of the backpack (`field n`) or of a fruit
 * (`fruit a n`), a passed check (`passed tests-passed`), each visit that a rule counts (`visit a`), `moved` for a hop,
 * and an observation of the present visit in an earlier mode (`seen result`).
 */
export type Gains = readonly string[];

/** The maximum number of gains to follow. In a set with more, each is counted as made. */
const MAX_GAINS = 6;

const celName = (name: string): string => name.replaceAll('-', '_');
const gainsOfSets = new WeakMap<SpecSet, ReadonlySet<string>>();

/** The gains that some requirement of a spec set depends on. Empty if there are too many to follow. */
export const gainsToFollow = (specs: SpecSet): ReadonlySet<string> =>
  getOrInsert(gainsOfSets, specs, () => {
    const peripherals = Object.values(specs.peripherals);
    const rules = [
      ...specs.edges.flatMap(({ when, gates }) => [
        when ?? '',
        ...gates.map((gate) => (gate.kind === 'when' ? gate.cel : '')),
      ]),
      ...Object.values(specs.conditions),
    ].join('\n');
    const found = new Set([
      ...peripherals.flatMap(({ context }) =>
        Object.entries(context).flatMap(([field, { source, optional }]) => {
          if (optional || field === 'session-id' || source.kind === 'session-log') return [];
          return [source.kind === 'fruit' ? `fruit ${source.peripheral} ${celName(field)}` : `field ${celName(field)}`];
        }),
      ),
      ...peripherals.flatMap(({ entry }) =>
        entry.conditions.filter((name) => !Object.hasOwn(specs.conditions, name)).map((name) => `passed ${name}`),
      ),
      ...(/\btests\b/.test(rules) ? [`passed ${TESTS_PASSED_CONDITION}`] : []),
      ...[...rules.matchAll(/\bbackpack\.(\w+)/g)].map(([, field]) => `field ${field}`),
      ...peripherals
        .filter(({ id }) => rules.includes(`visits.${celName(id)}`))
        .map(({ id }) => `visit ${celName(id)}`),
    ]);
    if (found.size > MAX_GAINS) found.clear();
    return specs.edges.some(({ implies }) => implies !== null) ? found.add('seen') : found;
  });

/** The gains after a hop, or after a start if `from` is null: of the visit that ends, and of the one that begins. */
export function gainsAfter(
  specs: SpecSet,
  view: SessionView,
  edge: Pick<Edge, 'to'> & { readonly from: string | null },
  mode: Mode | null,
  gains: Gains,
): Gains {
  const followed = gainsToFollow(specs);
  if (followed.size === 0) return gains;
  const { from, to } = edge;
  const spec = from === null ? undefined : specs.peripherals[from];
  const left = spec
    ? [
        ...Object.keys(spec.fruit).flatMap((field) => [`field ${celName(field)}`, `fruit ${from} ${celName(field)}`]),
        ...checksIn(specs, view, from!, mode),
      ]
    : // The caller of start supplies any field.
      [...followed].filter((gain) => gain.startsWith('field '));
  const made = new Set([
    'moved',
    ...gains.filter((gain) => !/^(?:visit|seen) /.test(gain)),
    ...left.filter((gain) => followed.has(gain)),
  ]);
  const visit = `visit ${celName(to)}`;
  const visits = gains.filter((gain) => gain.startsWith('visit '));
  // A third visit to one peripheral on one path counts as the second one, so that the search ends.
  const isCounted = followed.has(visit) && visits.filter((gain) => gain === visit).length < 2;
  return [...made, ...visits, ...(isCounted ? [visit] : [])].sort();
}

/** The gains after a change of the mode: the agent can use the tools that the present mode allows before it. */
export function gainsBeforeModeChange(
  specs: SpecSet,
  view: SessionView,
  {
    peripheral,
    mode,
    gains,
  }: { readonly peripheral: string | null; readonly mode: Mode | null; readonly gains: Gains },
): Gains {
  if (peripheral === null || gainsToFollow(specs).size === 0) return gains;
  const { exits, fruit } = specs.peripherals[peripheral]!;
  const implied = new Set(exits.map(({ implies }) => implies && getOwn(fruit, implies.field)));
  const usable = usableTools(specs, view, peripheral, mode);
  const seen = [...implied].flatMap((field) => {
    if (field?.kind !== 'observed') return [];
    return usable.some((id) => canObserve(specs, peripheral, id, field.from)) ? [`seen ${field.from}`] : [];
  });
  return [...new Set([...gains, ...checksIn(specs, view, peripheral, mode), ...seen])].sort();
}

/** The tools of a peripheral that a mode allows and a backend serves. */
function usableTools(specs: SpecSet, view: SessionView, peripheral: string, mode: Mode | null): readonly string[] {
  return specs.peripherals[peripheral]!.tools.filter((id) => {
    const effect = getOwn(specs.tools, id)?.effect;
    const allowed = specs.modeGate && mode !== null ? effectsOfMode(specs.modeGate, mode) : null;
    return effect !== undefined && (allowed?.includes(effect) ?? true) && !view.unserved?.has(id);
  });
}

const isReportedBy = (specs: SpecSet, observation: string): boolean =>
  observation === 'result' || Object.hasOwn(fieldsReportedByTools(specs).observed, observation);

/** True if calls of a tool can give a visit to a peripheral this observation. */
function canObserve(specs: SpecSet, peripheral: string, tool: string, observation: string): boolean {
  const spec = getOwn(specs.tools, tool);
  if (Object.hasOwn(fieldsReportedByTools(specs).observed, observation))
    return Object.hasOwn(spec?.observes ?? {}, observation);
  return (
    observation !== 'result' ||
    (specs.peripherals[peripheral]!.scope.rule.command === 'test' && takesCommandArgument(spec))
  );
}

/** The checks that tools of a peripheral can pass, as gains. */
const checksIn = (specs: SpecSet, view: SessionView, peripheral: string, mode: Mode | null): Gains =>
  [...gainsToFollow(specs)].filter((gain) => {
    if (!gain.startsWith('passed ')) return false;
    const observation = checkFieldOfCondition(specs, gain.slice('passed '.length)) ?? 'result';
    return usableTools(specs, view, peripheral, mode).some((id) => canObserve(specs, peripheral, id, observation));
  });

/**
 * False if an edge cannot open in a mode, whatever the agent does at its source: no tool that the mode allows observes
 * the implied fruit, a rule contradicts the known facts, or the path before did not gain what the hop needs.
 */
export function canEdgeOpen(specs: SpecSet, view: SessionView, edge: Edge, mode: Mode | null, gains: Gains): boolean {
  const { from, to, implies, when, conditions, gates } = edge;
  const source = specs.peripherals[from]!;
  const target = specs.peripherals[to]!;
  // A path comes back to the present peripheral only in a new visit.
  const here = view.visit?.peripheral === from && !gains.includes('moved') ? view.visit : null;
  const most = source.limits.steps ?? Infinity;
  const usable = here && (here.steps >= most || isTimeUp(view)) ? [] : usableTools(specs, view, from, mode);
  const isObservable = (name: string) =>
    gains.includes(`seen ${name}`) || usable.some((id) => canObserve(specs, from, id, name));
  const seen = here ? valueOfLazy(here.observedFruit) : {};
  // A field that no tool observes any more keeps its value.
  const unseen = Object.entries(source.fruit).filter(
    ([, rule]) => rule.kind === 'observed' && isReportedBy(specs, rule.from) && !isObservable(rule.from),
  );
  const field = implies && getOwn(source.fruit, implies.field);
  const observation = field?.kind === 'observed' ? field.from : null;
  if (implies && observation !== null) {
    if (seen[implies.field] !== implies.value && !isObservable(observation)) return false;
  }
  const followed = gainsToFollow(specs);
  const checks = [...gains, ...checksIn(specs, view, from, mode)];
  const isPassable = (name: string) => {
    const check = checkFieldOfCondition(specs, name);
    if (implies && implies.value !== CHECK_PASSED_VALUE && observation === (check ?? 'result')) return false;
    const isPassed = check === undefined ? view.tests.passed : view.checks?.includes(check);
    return isPassed || !followed.has(`passed ${name}`) || checks.includes(`passed ${name}`);
  };
  if (conditions.some((name) => !Object.hasOwn(specs.conditions, name) && !isPassable(name))) return false;
  const after = gainsAfter(specs, view, edge, mode, gains);
  const lacks = transferContext(target, view).missing.map(({ field: name, from: origin }) =>
    specs.peripherals[origin] ? `fruit ${origin} ${celName(name)}` : `field ${celName(name)}`,
  );
  if (lacks.some((gain) => followed.has(gain) && !after.includes(gain))) return false;

  const visits = { ...view.visits };
  for (const id of Object.keys(specs.peripherals)) {
    const more = gains.filter((gain) => gain === `visit ${celName(id)}`).length;
    if (more > 0) visits[id] = (visits[id] ?? 0) + more;
  }
  const facts = collectCelFacts(
    { ...view, mode, visits, visit: here },
    {
      ...Object.fromEntries(unseen.map(([name]) => [name, seen[name] ?? null])),
      ...(implies ? { [implies.field]: implies.value } : {}),
    },
  );
  const place = { peripheral: from };
  const known = { ...facts, session: { ...facts.session, ...place }, visit: { ...facts.visit, ...place } };
  const { state } = fieldsReportedByTools(specs);
  const has = (fields: object, member: string) => Object.keys(fields).some((name) => celName(name) === member);
  const rules = [
    when,
    ...gates.map((gate) => (gate.kind === 'when' ? gate.cel : null)),
    ...conditions.map((name) => getOwn(specs.conditions, name)),
  ];
  return rules.every(
    (rule) =>
      typeof rule !== 'string' ||
      mayRuleHold(rule, known, (root, member) => {
        if (root === 'fruit') return has(facts.fruit, member) || !has(source.fruit, member) ? 'fixed' : 'open';
        if (root === 'backpack')
          return followed.size === 0 || gains.includes(`field ${member}`) || has(state, member) ? 'open' : 'fixed';
        if (root === 'visits') return followed.has(`visit ${member}`) ? 'fixed' : Infinity;
        if (root === 'tests') return member === 'passed' && !isPassable(TESTS_PASSED_CONDITION) ? 'fixed' : 'open';
        return ['agent', 'mode', 'peripheral'].includes(member)
          ? 'fixed'
          : root === 'visit' && member === 'steps'
            ? usable.length === 0
              ? (here?.steps ?? 0)
              : most
            : Infinity;
      }),
  );
}

/** False if a start cannot be made in a mode: outside of any peripheral, an agent can change only the mode. */
export function canStartIn(specs: SpecSet, view: SessionView, to: string, mode: Mode | null): boolean {
  const requirements = startRequirements(specs, to).filter(({ kind }) => kind === 'condition');
  const facts = collectRequirementFacts(specs, { ...view, mode }, requirements, { by: 'agent' });
  return unmetRequirements(requirements, facts).length === 0;
}
