import type { RequestOfKind } from '../../audit/rules/audit-request.ts';
import { type AuditedPin, type AuditState, visitScope } from '../../audit/rules/audit-state.ts';
import { findFirstRuleProblem } from '../../audit/rules/find-rule-problems.ts';
import { getOrInsert } from '../../base/get-or-insert.ts';
import type { ToolReport } from '../../ports/tool-backend.ts';
import { gatesOfCall } from '../../spec/call-gates.ts';
import { getOwn } from '../../spec/names.ts';
import { takesCommandArgument } from '../../spec/policy/argument-roles.ts';
import { fieldsReportedByTools } from '../../spec/reported-fields.ts';
import type {
  Fields,
  FruitType,
  Json,
  PeripheralSpec,
  ProjectConfig,
  SpecSet,
  TestCommand,
  ToolGate,
  ToolSpec,
} from '../../spec/types.ts';
import { CEL_RULE_SEPARATOR, joinCelRules } from '../model/cel-rules-text.ts';
import { isReadIn, sampleValuesForRules } from '../samples/rule-values.ts';
import { chooseWritableFile, makeSampleArguments } from '../samples/sample-arguments.ts';
import { DEFAULT_TOOL_REPORT, type Move } from './move.ts';

const okReport = (result: Json, effects: ToolReport['effects'] = []): ToolReport<Json> => ({
  outcome: { status: 'ok', result },
  effects,
});

/** A call of a tool that its rules allow, or else with any arguments; null if the scope leaves it no arguments. */
function sampleCall(pinned: AuditedPin, state: AuditState, tool: ToolSpec): RequestOfKind<'step'> | null {
  const reach = { scope: visitScope(state), config: pinned.config, files: [...state.files] };
  const args = makeSampleArguments(tool, reach);
  if (!args) return null;
  const gates = gatesOfCall(tool, state.visit?.spec);
  const approval = gates.some(({ kind }) => kind === 'approval') ? { approves: true } : {};
  const requests = varyArguments(tool, gates, args).map((each) => ({
    kind: 'step' as const,
    tool: tool.id,
    args: { ...each },
    ...approval,
  }));
  const met = requests.length > 1 ? requests.find((asked) => findFirstRuleProblem(state, asked) === null) : undefined;
  return met ?? requests[0]!;
}

/** Arguments that the rules of a call may distinguish; the sample itself is the first. */
function varyArguments(tool: ToolSpec, gates: readonly ToolGate[], sample: Fields): readonly Fields[] {
  const rules = gates.flatMap((gate) => (gate.kind === 'when' ? [gate.cel] : [])).join(CEL_RULE_SEPARATOR);
  if (rules === '') return [sample];
  let all: readonly Fields[] = [sample];
  for (const { name, schema } of tool.parameters) {
    if (!isReadIn(rules, name)) continue;
    const values = valuesOfSchema(rules, name, schema);
    all = all
      .concat(values.flatMap((value) => all.map((args) => ({ ...args, [name]: value }))))
      .slice(0, MAX_ARGUMENTS);
  }
  return all;
}
const MAX_ARGUMENTS = 200;

const SCHEMA_TYPES: { readonly [type: string]: FruitType } = {
  array: 'list',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  object: 'object',
};

function valuesOfSchema(rules: string, name: string, { enum: values, type }: Fields): readonly Json[] {
  if (Array.isArray(values)) return values;
  return sampleValuesForRules(rules, name, SCHEMA_TYPES[String(type)] ?? 'string');
}

type NamedReports = readonly (readonly [name: string, report: ToolReport<Json>])[];

/** Simulated reports of a tool: one for each value of an observed field or a state field that rules distinguish. */
const reportsOf = ({ specs }: AuditedPin, tool: ToolSpec): NamedReports =>
  getOrInsert(
    getOrInsert(reports, specs, () => new Map<string, NamedReports>()),
    tool.id,
    () => makeReports(joinCelRules(specs), tool),
  );
const reports = new WeakMap<SpecSet, Map<string, NamedReports>>();

function makeReports(rules: string, { observes = {}, state = {} }: ToolSpec): NamedReports {
  const valuesOf = (field: string, type: FruitType) => sampleValuesForRules(rules, field, type).slice(0, MAX_REPORTS);
  const held = Object.fromEntries(Object.entries(state).map(([field, type]) => [field, valuesOf(field, type)[0]!]));
  const report = (name: string, fields: Pick<ToolReport<Json>, 'observed' | 'state'>) =>
    [name, { ...DEFAULT_TOOL_REPORT, ...(Object.keys(state).length > 0 ? { state: held } : {}), ...fields }] as const;
  return [
    ...Object.entries(observes).flatMap(([field, type]) =>
      valuesOf(field, type).map((value) =>
        report(`${field}=${JSON.stringify(value)}`, { observed: { [field]: value } }),
      ),
    ),
    ...Object.entries(state).flatMap(([field, type]) =>
      // The reports above already have the first value of each state field.
      valuesOf(field, type)
        .slice(Object.keys(observes).length > 0 ? 1 : 0)
        .map((value) => report(`${field}:=${JSON.stringify(value)}`, { state: { ...held, [field]: value } })),
    ),
  ];
}

const MAX_REPORTS = 16;

/** The steps of stub tools to try: observe, run tests that pass or fail, change a file, ship, use a pattern. */
export function stepMoves(pinned: AuditedPin, state: AuditState, from: PeripheralSpec): Move[] {
  const scope = visitScope(state);
  const tools = from.tools.flatMap((id) => getOwn(pinned.specs.tools, id) ?? []);
  const toolNamed = (name: string) => tools.find(({ id }) => id === name);
  const moves: (Move | null)[] = [];
  const calls = new Map<ToolSpec, RequestOfKind<'step'> | 'none'>();
  const moveOf = (name: string, tool: ToolSpec, report: ToolReport<Json>): Move | null => {
    const asked = getOrInsert(calls, tool, () => sampleCall(pinned, state, tool) ?? 'none');
    return asked === 'none' ? null : { name, asked, report };
  };
  const take = (name: string, tool: ToolSpec | undefined, report: ToolReport<Json>) => {
    if (tool) moves.push(moveOf(name, tool, report));
  };
  const runs = tools.find(takesCommandArgument);
  if (scope.command === 'test') {
    const { config } = pinned;
    const [first, ...others] = config.test;
    take('run.pass', runs, okReport(testRun(config, first, 'pass')));
    take('run.fail', runs, okReport(testRun(config, first, 'fail')));
    take('run.part', runs, okReport(testRun(config, first, 'pass', true)));
    for (const [index, other] of runs ? others.entries() : []) {
      const asked = sampleCall({ ...pinned, config: { ...config, test: [other] } }, state, runs!);
      if (asked) moves.push({ name: `run.pass ${index + 2}`, asked, report: okReport(testRun(config, other, 'pass')) });
    }
  }
  /** Takes these tools in order, up to and including the first whose call the rules allow. */
  const takeFirst = (name: string, of: readonly ToolSpec[], reportOf: (tool: ToolSpec) => ToolReport<Json>) => {
    for (const tool of of) {
      const isFirst = tool === of[0];
      const move = moveOf(isFirst ? name : `${name} by ${tool.id}`, tool, reportOf(tool));
      moves.push(move);
      if (move && (gatesOfCall(tool, from).length === 0 || findFirstRuleProblem(state, move.asked) === null)) return;
    }
  };
  takeFirst(
    'look',
    tools.filter((tool) => tool.effect !== 'act' && !(scope.command === 'test' && tool === runs)),
    (tool) => okReport(lookedAt(tool)),
  );
  for (const tool of tools)
    for (const [name, report] of reportsOf(pinned, tool)) take(`${tool.id} ${name}`, tool, report);
  const acts = tools.filter(({ effect }) => effect === 'act');
  const changes = acts.filter(({ parameters }) => parameters.some(({ role }) => role === 'path:write'));
  const path = chooseWritableFile(scope);
  if (changes.length === 0) {
    takeFirst('ship', acts, () => okReport({ exit: 0 }));
    // A check that the spec set defines holds until the next change.
    if (Object.keys(fieldsReportedByTools(pinned.specs).checks).length > 0)
      takeFirst('change', acts, () => okReport(null, 'unobserved'));
  } else if (path !== null)
    takeFirst('change', changes, () => okReport({ path }, [{ path, op: 'modify', after: 'f'.repeat(64) }]));
  for (const pattern of patternsOf(pinned)) {
    take(`select ${pattern}`, toolNamed('psr-select'), okReport({ pattern }));
    take(`hold ${pattern}`, toolNamed('pur-update'), okReport({ pattern, held: true }));
  }
  return moves.filter((move) => move !== null);
}

const lookedAt = (tool: ToolSpec): Json => (tool.id === 'read' ? { path: 'README.md', text: 'x' } : { seen: true });

const patterns = new WeakMap<SpecSet, readonly string[]>();

function patternsOf({ specs }: AuditedPin): readonly string[] {
  return getOrInsert(patterns, specs, () => {
    const gates = specs.edges.flatMap((edge) => edge.gates);
    return [...new Set(gates.flatMap((gate) => (gate.kind === 'pattern' ? [gate.pattern] : [])))];
  });
}

function testRun(
  { test }: ProjectConfig,
  ran: TestCommand | undefined,
  verdict: 'pass' | 'fail',
  narrowed = false,
): Json {
  const failed = verdict === 'fail' ? 1 : 0;
  const report = { format: 'tap', total: 3, passed: 3 - failed, failed, skipped: 0, failures: [] };
  const words = ({ run }: TestCommand) => run.filter((word) => word !== '{args}');
  const others = test.filter((other) => other !== ran).map((other) => words(other).join(' '));
  return { command: ran ? words(ran) : [], others, narrowed, verdict, exit: failed, report };
}
