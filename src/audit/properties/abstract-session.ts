import { getOrInsert } from '../../base/get-or-insert.ts';
import { effectsOfMode } from '../../spec/mode-way.ts';
import { getOwn } from '../../spec/names.ts';
import { takesCommandArgument } from '../../spec/policy/argument-roles.ts';
import { checkFieldOfCondition, fieldsReportedByTools } from '../../spec/reported-fields.ts';
import { findDelegationEdge } from '../../spec/resolve/derive-edges.ts';
import { type Edge, type Mode, type PeripheralSpec, type SpecSet, TESTS_PASSED_CONDITION } from '../../spec/types.ts';
import { canRuleHold, ruleReadsFact, rulesOf, stringLiteralsInRule } from './can-rule-hold.ts';

/** A session's state for properties: agent, peripheral, mode, and the last test results for the current code. */
export interface AbstractState {
  /** The agent of the session: a name from the spec set, or {@link UNNAMED_AGENT} for any other. */
  readonly agent: string;
  readonly peripheral: string | null;
  readonly mode: Mode | null;
  /** True after the first visit of the session. */
  readonly begun: boolean;
  /** For each peripheral whose visits are followed: true if the session visited it. */
  readonly visited: { readonly [peripheral: string]: boolean };
  /** The last test result of each peripheral for the current code, if there is one and it is kept. */
  readonly results: { readonly [peripheral: string]: string };
  /** True if all tests of the current code passed. */
  readonly passed: boolean;
  /** The test result of the current visit; null if no test ran. */
  readonly seen: string | null;
}

/** An agent that no list of agents and no rule names. */
export const UNNAMED_AGENT = '';

/**
 * Agents that a spec set may treat differently. If a rule reads the agent's name: each name in a rule or a list of
 * agents. Otherwise one agent for each set of peripherals that agents may enter.
 */
export function listDistinguishedAgents(specs: SpecSet): readonly string[] {
  const lists = Object.values(specs.peripherals).flatMap(({ agents }) => (agents === null ? [] : [agents]));
  const rules = rulesOf(specs).filter((rule) => ruleReadsFact(rule, 'session.agent'));
  const names = [...new Set([UNNAMED_AGENT, ...lists.flat(), ...rules.flatMap(stringLiteralsInRule)])];
  if (rules.length > 0) return names;
  const rights = (name: string) => lists.map((list) => (list.includes(name) ? 1 : 0)).join('');
  return [...new Map(names.map((name) => [rights(name), name])).values()];
}

/** A possible move and the state after it. */
export interface AbstractMove {
  readonly name: string;
  readonly kind: 'start' | 'hop' | 'mode' | 'step' | 'stop';
  /** True if the move needs an approval, which the proof counts as given. */
  readonly approved: boolean;
  readonly conditions: readonly string[];
  readonly to: AbstractState;
}

/** The starts of sub-agents from a peripheral, as edges. Peripherals that admit nobody from it are left out. */
export const subAgentStartEdges = ({ peripherals }: SpecSet, from: string): readonly Edge[] =>
  (getOwn(peripherals, from)?.delegates ?? []).flatMap(({ to }) => {
    const edge = findDelegationEdge(peripherals, from, to);
    return edge && edge.sources.length > 0 ? [edge] : [];
  });

/**
 * The possible moves from a state. An undecidable requirement (a rule over unknown facts, context that may exist)
 * counts as met, so every proof that something cannot happen is sound. Pure.
 */
export class AbstractMoveFinder {
  readonly #specs: SpecSet;
  readonly #remembered: ReadonlySet<string>;
  readonly #followed: readonly string[];
  readonly #edges: ReadonlyMap<string, readonly Edge[]>;
  readonly #rules = new Map<string, boolean>();
  /** Fields that some tool can have reported. */
  readonly #reported = new Set<string>();

  /**
   * @param remembered peripherals whose results are kept after a visit; the results of others may be anything at the
   *   next visit
   * @param followed peripherals whose visits a state remembers
   */
  constructor(specs: SpecSet, remembered: ReadonlySet<string>, followed: readonly string[]) {
    this.#specs = specs;
    this.#remembered = remembered;
    this.#followed = followed;
    this.#edges = Map.groupBy(specs.edges, ({ from }) => from);
  }

  readonly initial = (): readonly AbstractState[] =>
    listDistinguishedAgents(this.#specs).map((agent) => ({
      agent,
      peripheral: null,
      mode: this.#specs.modeGate?.initial ?? null,
      begun: false,
      visited: Object.fromEntries(this.#followed.map((id) => [id, false])),
      results: {},
      passed: false,
      seen: null,
    }));

  /** Adds the fields that tools report in these states. True if some are new. Adds none if no condition reads any. */
  addReports(states: readonly AbstractState[]): boolean {
    const { peripherals, tools, modeGate } = this.#specs;
    const demanded = Object.values(peripherals).flatMap(({ entry }) => entry.conditions);
    if (demanded.every((name) => checkFieldOfCondition(this.#specs, name) === undefined)) return false;
    const before = this.#reported.size;
    for (const { peripheral, mode } of states)
      for (const id of peripheral === null ? [] : peripherals[peripheral]!.tools) {
        const { effect, observes = {} } = tools[id]!;
        const isAllowed = !modeGate || mode === null || effectsOfMode(modeGate, mode).includes(effect);
        if (isAllowed) for (const field of Object.keys(observes)) this.#reported.add(field);
      }
    return this.#reported.size > before;
  }

  moves(state: AbstractState): readonly AbstractMove[] {
    const inside = state.peripheral === null ? [] : [...this.#hops(state), ...this.#steps(state), this.#stop(state)];
    return [...(state.peripheral === null ? this.#starts(state) : inside), ...this.#modes(state)];
  }

  #rule(state: AbstractState, cel: string): boolean {
    const { agent, peripheral, mode, begun, visited, passed } = state;
    const key = JSON.stringify([cel, agent, peripheral, mode, begun, visited, passed]);
    return getOrInsert(this.#rules, key, () =>
      canRuleHold(this.#specs, cel, {
        agent: agent === UNNAMED_AGENT ? null : agent,
        peripheral,
        mode,
        begun,
        visited,
        testsPassed: passed,
      }),
    );
  }

  #condition(state: AbstractState, name: string): boolean {
    if (name === TESTS_PASSED_CONDITION) return state.passed;
    // The backend of a tool that reports the field may report any value. Before the first visit, no tool was called.
    const field = checkFieldOfCondition(this.#specs, name);
    if (field !== undefined) return state.begun && this.#reported.has(field);
    const rule = this.#specs.conditions[name];
    return rule !== undefined && this.#rule(state, rule);
  }

  #admittedInMode({ mode }: AbstractState, to: string): boolean {
    const allowed = this.#specs.modeGate && mode ? this.#specs.modeGate.peripherals[mode] : null;
    return !allowed || allowed.includes(to);
  }

  #admitsAgent({ agent }: AbstractState, to: string): boolean {
    const agents = this.#specs.peripherals[to]?.agents ?? null;
    return agents === null || agents.includes(agent);
  }

  #starts(state: AbstractState): AbstractMove[] {
    return Object.values(this.#specs.peripherals).flatMap(({ id, entry }) => {
      const { sources, conditions } = entry;
      const admits = sources.some(
        ({ kind }) => kind === 'user-request' || kind === (state.begun ? 'session-close' : 'default'),
      );
      if (!admits || !this.#admittedInMode(state, id) || !this.#admitsAgent(state, id)) return [];
      if (!conditions.every((name) => this.#condition(state, name))) return [];
      const to = { ...this.#entered(state, id), begun: true, seen: null };
      return [{ name: `start ${id}`, kind: 'start', approved: false, conditions, to }];
    });
  }

  /** The starts of sub-agents from a state, as hops into their peripherals, although the session itself stays. */
  delegations(state: AbstractState): readonly AbstractMove[] {
    return state.peripheral === null ? [] : this.#along(state, subAgentStartEdges(this.#specs, state.peripheral));
  }

  #hops(state: AbstractState): readonly AbstractMove[] {
    return this.#along(state, this.#edges.get(state.peripheral!) ?? []);
  }

  #along(state: AbstractState, edges: readonly Edge[]): readonly AbstractMove[] {
    return edges.flatMap((edge): AbstractMove[] => {
      if (!this.obstacles(state, edge).next().done) return [];
      const { conditions, gates, exit, from, to } = edge;
      const approved = gates.some(({ kind }) => kind === 'approval');
      const name = `${from} ─${exit}→ ${to}${approved ? ' (approved)' : ''}`;
      return [{ name, kind: 'hop', approved, conditions, to: this.#entered(this.#left(state), to) }];
    });
  }

  /** Yields each requirement that blocks an edge in a state, whoever requests the hop and even with an approval. */
  *obstacles(state: AbstractState, edge: Edge): Generator<string, void> {
    const { implies, when, sources, conditions, gates, exit, to } = edge;
    if (exit === 'user-request' && sources.length > 0 && sources.every(({ kind }) => kind === 'agent-request'))
      yield `only the operator can use user-request, and ${to} admits only a request of the agent`;
    if (implies && this.#tests(state.peripheral!, implies.field) && state.seen !== implies.value)
      yield `${implies.field} is not ${implies.value}`;
    if (implies && !this.#canBeReported(state.peripheral!, implies.field))
      yield `no tool of ${state.peripheral} reports ${implies.field}`;
    if (when !== null && !this.#rule(state, when)) yield `the rule "${when}" of ${exit} cannot hold`;
    if (!this.#admittedInMode(state, to)) yield `the mode does not admit ${to}`;
    if (!this.#admitsAgent(state, to)) yield `the agent may not enter ${to}`;
    for (const name of conditions) if (!this.#condition(state, name)) yield `the condition "${name}" cannot hold`;
    for (const gate of gates) {
      if (gate.kind === 'when' && !this.#rule(state, gate.cel)) yield `the gate "${gate.cel}" cannot hold`;
      if (gate.kind === 'pattern' && !this.#patternCanStand(gate.is)) yield `no peripheral selects ${gate.pattern}`;
    }
    const rules = [
      ...[when, ...gates.map((gate) => (gate.kind === 'when' ? gate.cel : null))],
      ...conditions.map((name) => getOwn(this.#specs.conditions, name)),
      ...(implies ? [`fruit.${implies.field.replaceAll('-', '_')} == "${implies.value}"`] : []),
    ].filter((rule) => typeof rule === 'string');
    const all = rules.map((rule) => `(${rule})`).join(' && ');
    if (rules.length > 1 && rules.every((rule) => this.#rule(state, rule)) && !this.#rule(state, all))
      yield `its rules "${rules.join('", "')}" cannot hold together`;
  }

  #entered(state: AbstractState, peripheral: string): AbstractState {
    const { visited } = state;
    const isKnown = visited[peripheral] !== false;
    return { ...state, peripheral, visited: isKnown ? visited : { ...visited, [peripheral]: true } };
  }

  #left(state: AbstractState): AbstractState {
    const { peripheral, results } = state;
    if (peripheral === null || this.#remembered.has(peripheral) || !Object.hasOwn(results, peripheral))
      return { ...state, seen: null };
    const { [peripheral]: _forgotten, ...rest } = results;
    return { ...state, seen: null, results: rest };
  }

  /** True if a fruit field is the test result. Other observed fields may have any value. */
  #tests(peripheral: string, field: string): boolean {
    const rule = this.#specs.peripherals[peripheral]?.fruit[field];
    return rule?.kind === 'observed' && rule.from === 'result';
  }

  /** False if a fruit field comes from a report, and no tool of the peripheral reports it. */
  #canBeReported(peripheral: string, field: string): boolean {
    const { fruit = {}, tools = [] } = this.#specs.peripherals[peripheral] ?? {};
    const rule = fruit[field];
    if (rule?.kind !== 'observed' || !Object.hasOwn(fieldsReportedByTools(this.#specs).observed, rule.from))
      return true;
    return tools.some((id) => Object.hasOwn(this.#specs.tools[id]!.observes ?? {}, rule.from));
  }

  #patternCanStand(is: 'selected' | 'held'): boolean {
    const tool = is === 'selected' ? 'psr-select' : 'pur-update';
    return Object.values(this.#specs.peripherals).some(
      ({ tools }) => tools.includes(tool) || tools.includes('pur-update'),
    );
  }

  #steps(state: AbstractState): AbstractMove[] {
    const spec = this.#specs.peripherals[state.peripheral!]!;
    const allowed = (effect: string) =>
      !this.#specs.modeGate || !state.mode || effectsOfMode(this.#specs.modeGate, state.mode).includes(effect as never);
    const step = (name: string, to: AbstractState): AbstractMove => ({
      name: `${spec.id}: ${name}`,
      kind: 'step',
      approved: false,
      conditions: [],
      to,
    });
    const moves: AbstractMove[] = [];
    const runs = listTestTools(this.#specs, spec).some((id) => allowed(this.#specs.tools[id]!.effect));
    if (runs) {
      const addRun = (value: string, passed: boolean) =>
        moves.push(
          step(`tests ${value}`, { ...state, seen: value, passed, results: { ...state.results, [spec.id]: value } }),
        );
      // A pass and a failure on the same code make the result flaky until the code changes.
      const before = state.results[spec.id];
      if (before === undefined || before === 'pass') addRun('pass', true);
      if (before === undefined || before === 'fail') addRun('fail', false);
      if (before !== undefined) addRun('flaky', false);
    }
    if (canChangeFiles(this.#specs, spec) && allowed('act'))
      moves.push(step('change', { ...state, passed: false, results: {} }));
    return moves;
  }

  #stop(state: AbstractState): AbstractMove {
    const to = { ...this.#left(state), peripheral: null };
    return { name: `stop ${state.peripheral}`, kind: 'stop', approved: false, conditions: [], to };
  }

  #modes(state: AbstractState): AbstractMove[] {
    const { modeGate } = this.#specs;
    const { mode } = state;
    if (!modeGate || mode === null) return [];
    const along = modeGate.transitions
      .filter(({ from }) => from === mode)
      .map(
        ({ to, approval }): AbstractMove => ({
          name: `mode ${mode} → ${to}${approval ? ' (approved)' : ''}`,
          kind: 'mode',
          approved: approval !== null,
          conditions: [],
          to: { ...state, mode: to },
        }),
      );
    if (mode === modeGate.reset) return along;
    const reset = { name: `reset to ${modeGate.reset}`, kind: 'mode' as const, approved: false, conditions: [] };
    return [...along, { ...reset, to: { ...state, mode: modeGate.reset } }];
  }
}

export const listTestTools = ({ tools }: SpecSet, { tools: granted, scope }: PeripheralSpec): readonly string[] =>
  scope.rule.command === 'test' ? granted.filter((id) => takesCommandArgument(tools[id])) : [];

export const canChangeFiles = ({ tools }: SpecSet, { tools: granted, scope }: PeripheralSpec): boolean =>
  scope.rule.write.length > 0 && granted.some((id) => tools[id]?.effect === 'act');

/** True if a peripheral can ship: it has an acting tool, and a scope for git and the deploy commands. */
export const canShipChanges = ({ tools }: SpecSet, { tools: granted, scope }: PeripheralSpec): boolean =>
  scope.rule.command === 'deploy' && granted.some((id) => tools[id]?.effect === 'act');
