import { type Asked, contextFor, expected, fruitNow } from '../audit/expected.ts';
import { looksBack } from '../audit/form.ts';
import type { Pinned } from '../audit/ledger.ts';
import { afterBody, scopeNow, type Standing, testsOf } from '../audit/standing.ts';
import type { Body } from '../evidence/bodies.ts';
import type { ToolReport } from '../ports/tool-backend.ts';
import { type Json, MODES, type PeripheralSpec, type SpecSet, type ToolSpec } from '../spec/types.ts';
import { fileIn, sampleArguments } from './sample-arguments.ts';

/** One thing that a generated test does: a request, and for a step what the backend shall answer. */
export interface Move {
  /** `start.explore`, `pass.deploy`, `run.pass`, `to.execute`, … */
  readonly name: string;
  readonly asked: Asked;
  readonly report?: ToolReport;
  /** Minutes that pass before. */
  readonly wait?: number;
}

const own = <T>(record: { readonly [key: string]: T }, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** Every stated field of a fruit, filled. */
export function statedFruit({ fruit }: PeripheralSpec): { [field: string]: Json } {
  return Object.fromEntries(
    Object.entries(fruit).flatMap(([field, rule]) => (rule.kind === 'stated' ? [[field, filled(rule.type)]] : [])),
  );
}

function filled(type: PeripheralSpec['fruit'][string]['type']): Json {
  if (Array.isArray(type)) return (type as readonly string[])[0] ?? '';
  const values: { readonly [name: string]: Json } = {
    string: 'stated',
    integer: 1,
    number: 1,
    boolean: true,
    list: ['stated'],
    object: { stated: true },
  };
  return values[type as string] ?? null;
}

const variants = new WeakMap<
  PeripheralSpec,
  readonly { readonly note: string; readonly fruit: { [field: string]: Json } }[]
>();

/** The stated fruits that a spec set's rules could tell apart: each stated field that a rule names, at each value that a rule names. */
function statedFruits(specs: SpecSet, from: PeripheralSpec) {
  const known = variants.get(from);
  if (known) return known;
  const base = statedFruit(from);
  const rules = rulesOf(specs);
  const more = Object.entries(from.fruit).flatMap(([field, rule]) => {
    const name = field.replaceAll('-', '_');
    if (rule.kind !== 'stated' || !new RegExp(`\\b${name}\\b`).test(rules)) return [];
    return valuesFor(rule.type, rules)
      .filter((value) => value !== base[field])
      .map((value) => ({ note: ` {${field}: ${JSON.stringify(value)}}`, fruit: { ...base, [field]: value } }));
  });
  const all = [{ note: '', fruit: base }, ...more.slice(0, MOST_VARIANTS)];
  variants.set(from, all);
  return all;
}

const MOST_VARIANTS = 12;

function valuesFor(type: PeripheralSpec['fruit'][string]['type'], rules: string): readonly Json[] {
  if (typeof type !== 'string') return type;
  const numbers = (rules.match(/\b\d+\b/g) ?? []).map(Number);
  switch (type) {
    case 'integer':
    case 'number':
      return [...new Set([0, ...numbers.flatMap((number) => [number - 1, number, number + 1])])];
    case 'boolean':
      return [true, false];
    case 'string':
      return ['', ...[...rules.matchAll(/"([^"]*)"|'([^']*)'/g)].map((match) => match[1] ?? match[2] ?? '')];
    case 'list':
      return [[]];
    default:
      return [];
  }
}

/** Every CEL rule of a spec set. */
const rulesOf = ({ conditions, edges }: SpecSet): string =>
  [
    ...Object.values(conditions),
    ...new Set(
      edges.flatMap(({ when, gates }) => [
        ...(when === null ? [] : [when]),
        ...gates.flatMap((gate) => (gate.kind === 'when' ? [gate.cel] : [])),
      ]),
    ),
  ].join('\n');

/** What one may try where a session stands: also what will be refused there. */
export function movesFrom(pinned: Pinned, standing: Standing): readonly Move[] {
  if (standing.closed) return [];
  const inside = standing.visit && own(pinned.specs.peripherals, standing.visit.peripheral);
  return [
    ...(inside ? [...hops(pinned, inside), ...acts(pinned, standing, inside), stop(inside)] : starts(pinned)),
    ...modes(pinned, standing),
  ];
}

function starts({ specs }: Pinned): Move[] {
  const context = Object.fromEntries(
    Object.values(specs.peripherals).flatMap((peripheral) =>
      Object.entries(peripheral.context)
        .filter(([field, { source }]) => source.kind === 'inherit' && field !== 'session-id')
        .map(([field]) => [field, 'given']),
    ),
  );
  return Object.values(specs.peripherals).flatMap(({ id, entry }) => {
    const given = Object.keys(context).length > 0 ? { context } : {};
    const asked = { kind: 'start' as const, peripheral: id, ...given };
    const agent: Move = { name: `start.${id}`, asked: { ...asked, by: 'agent' } };
    const operator: Move = { name: `start.${id} (operator)`, asked: { ...asked, by: 'operator' } };
    return entry.sources.some(({ kind }) => kind === 'user-request') ? [agent, operator] : [agent];
  });
}

/** The hops of a peripheral's exits, by the agent; by the operator too where that makes a difference, and with every fruit that rules tell apart. */
function hops({ specs }: Pinned, from: PeripheralSpec): Move[] {
  return statedFruits(specs, from).flatMap(({ note, fruit }) => hopsWith(specs, from, fruit, note));
}

function hopsWith(
  specs: SpecSet,
  from: PeripheralSpec,
  fruit: { readonly [field: string]: Json },
  note: string,
): Move[] {
  return from.exits.flatMap(({ name: exit, opens }) =>
    opens.flatMap(({ to }) => {
      const target = own(specs.peripherals, to);
      if (!target) return [];
      const asked = { kind: 'hop', to, exit, reason: 'because', fruit, approves: true } as const;
      const agent: Move = { name: `${exit}.${to}${note}`, asked: { ...asked, by: 'agent' } };
      const operator: Move = { name: `${exit}.${to}${note} (operator)`, asked: { ...asked, by: 'operator' } };
      const matters =
        exit === 'user-request' ||
        target.entry.sources.some(({ kind }) => kind === 'user-request' || kind === 'agent-request');
      return matters ? [agent, operator] : [agent];
    }),
  );
}

const stop = (from: PeripheralSpec): Move => ({ name: 'stop', asked: { kind: 'stop', fruit: statedFruit(from) } });

function modes({ specs }: Pinned, { mode }: Standing): Move[] {
  const { gate } = specs;
  if (!gate || mode === null) return [];
  const to = (name: string): Move => ({
    name: `to.${name}`,
    asked: { kind: 'mode', to: name, by: 'agent', summary: 'what came of it', approves: true },
  });
  const reset: Move = {
    name: 'reset',
    asked: { kind: 'mode', to: gate.reset, by: 'operator', reset: true, approves: true },
  };
  return [...MODES.filter((other) => other !== mode).map(to), ...(mode === gate.reset ? [] : [reset])];
}

const ok = (result: Json, effects: ToolReport['effects'] = []): ToolReport => ({
  outcome: { status: 'ok', result },
  effects,
});

/** A step of a tool with a canned result; null where the scope leaves it no arguments. */
export function act(pinned: Pinned, standing: Standing, name: string, tool: ToolSpec, report: ToolReport): Move | null {
  const reach = { scope: scopeNow(pinned, standing), config: pinned.config, files: standing.files };
  const args = sampleArguments(tool, reach);
  return args && { name, asked: { kind: 'step', tool: tool.id, args: { ...args } }, report };
}

/** What the canned tools can do here: look, run tests either way, change a file, ship, record a pattern. */
function acts(pinned: Pinned, standing: Standing, from: PeripheralSpec): Move[] {
  const scope = scopeNow(pinned, standing);
  const tools = from.tools.flatMap((id) => own(pinned.specs.tools, id) ?? []);
  const moves: (Move | null)[] = [];
  const take = (name: string, tool: ToolSpec | undefined, report: ToolReport) => {
    if (tool) moves.push(act(pinned, standing, name, tool, report));
  };
  const runs = tools.find(({ parameters }) => parameters.some(({ role }) => role === 'command'));
  if (scope.command === 'test') {
    take('run.pass', runs, ok(testRun('pass')));
    take('run.fail', runs, ok(testRun('fail')));
    take('run.part', runs, ok(testRun('pass', true)));
  }
  const looks = tools.filter(({ effect }) => effect !== 'act');
  for (const tool of looks) {
    if (scope.command === 'test' && tool === runs) continue;
    const looked = act(pinned, standing, 'look', tool, ok(lookedAt(tool)));
    if (!looked) continue;
    moves.push(looked);
    break;
  }
  const changes = tools.find(
    ({ effect, parameters }) => effect === 'act' && parameters.some(({ role }) => role === 'path:write'),
  );
  const place = scope.write[0];
  if (changes && place !== undefined) {
    const path = fileIn(place);
    take('change', changes, ok({ path }, [{ path, op: 'modify', after: 'f'.repeat(64) }]));
  } else if (!changes)
    take(
      'ship',
      tools.find(({ effect }) => effect === 'act'),
      ok({ exit: 0 }),
    );
  for (const pattern of patternsOf(pinned)) {
    take(
      `select ${pattern}`,
      tools.find(({ id }) => id === 'psr-select'),
      ok({ pattern }),
    );
    take(
      `hold ${pattern}`,
      tools.find(({ id }) => id === 'pur-update'),
      ok({ pattern, held: true }),
    );
  }
  return moves.filter((move) => move !== null);
}

const lookedAt = (tool: ToolSpec): Json => (tool.id === 'read' ? { path: 'README.md', text: 'x' } : { seen: true });

const patterns = new WeakMap<SpecSet, readonly string[]>();

/** The patterns that gates ask for. */
function patternsOf({ specs }: Pinned): readonly string[] {
  const known = patterns.get(specs);
  if (known) return known;
  const gates = specs.edges.flatMap((edge) => edge.gates);
  const named = [...new Set(gates.flatMap((gate) => (gate.kind === 'pattern' ? [gate.pattern] : [])))];
  patterns.set(specs, named);
  return named;
}

function testRun(verdict: 'pass' | 'fail', narrowed = false): Json {
  const failed = verdict === 'fail' ? 1 : 0;
  const report = { format: 'tap', total: 3, passed: 3 - failed, failed, skipped: 0, failures: [] };
  return { command: ['run', 'tests'], narrowed, verdict, exit: failed, report };
}

/** Where a session would stand after a lawful move: what a planner thinks, before anything runs. Pure. */
export function imagine(pinned: Pinned, standing: Standing, { asked, report }: Move): Standing {
  return imaginedBodies(pinned, standing, asked, report ?? ok({ seen: true })).reduce(
    (now, body) =>
      body === 'enter'
        ? enter(pinned, now, asked)
        : afterBody(pinned, now, body, now.lastAt, now.sessionId || 'planned'),
    standing,
  );
}

function enter(pinned: Pinned, now: Standing, asked: Asked): Standing {
  const id = asked.kind === 'start' ? asked.peripheral : asked.kind === 'hop' ? asked.to : '';
  const given = asked.kind === 'start' ? (asked.context ?? {}) : {};
  const { context } = contextFor(pinned.specs.peripherals[id]!, now, given);
  const body: Body = { event: 'start', peripheral: id, by: 'agent', context, deadline: null, facts: null };
  return afterBody(pinned, now, body, now.lastAt, now.sessionId);
}

function imaginedBodies(pinned: Pinned, now: Standing, asked: Asked, report: ToolReport): readonly (Body | 'enter')[] {
  const spec = now.visit ? pinned.specs.peripherals[now.visit.peripheral] : undefined;
  const left = (exit: string | null, stated: { readonly [field: string]: Json }): Body[] => {
    if (!spec) return [];
    const par: Body[] = looksBack(spec) ? [{ event: 'par', par: {} }] : [];
    const before = par.reduce((at, body) => afterBody(pinned, at, body, at.lastAt, at.sessionId), now);
    const fruit = fruitNow(pinned, before, stated);
    return [...par, { event: 'stop', peripheral: spec.id, reason: 'because', by: 'agent', fruit, exit }];
  };
  switch (asked.kind) {
    case 'start':
      return ['enter'];
    case 'hop':
      return [...left(asked.exit ?? '', asked.fruit ?? {}), 'enter'];
    case 'stop':
      return left(null, asked.fruit ?? {});
    case 'step': {
      const { outcome, effects } = report;
      const acting = pinned.specs.tools[asked.tool]?.effect === 'act';
      const result = { tool: asked.tool, outcome: outcome as never, effects: effects as never };
      return [acting ? { event: 'outcome', ...result } : { event: 'step', args: {}, ...result }];
    }
    case 'mode':
      return [
        {
          event: 'mode',
          from: now.mode!,
          to: asked.to as never,
          how: 'transition',
          by: asked.by,
          summary: null,
          reason: null,
          exitCriteria: null,
          approval: null,
          facts: {},
        },
      ];
    case 'close':
      return [{ event: 'session-closed', reason: 'done', by: 'agent' }];
    default:
      return asked satisfies never;
  }
}

/** Whether the spec lets a move through where a session stands. */
export const isLawful = (pinned: Pinned, standing: Standing, { asked }: Move): boolean =>
  expected(pinned, standing, asked, standing.lastAt).ok;

const COUNTED =
  /\b(session\.steps|session\.denials|session\.visits|visit\.steps|visit\.denials|tests\.count|tests\.failed|visits\.[a-z0-9_]+|fruit\.[a-z0-9_]+|backpack\.[a-z0-9_]+|session\.mode)\b/g;
/** Makes the key under which two standings are the same for every rule of a spec set. */
export function keyMaker({ specs }: Pinned): (standing: Standing) => string {
  const rules = rulesOf(specs);
  const counted = new Set(rules.match(COUNTED) ?? []);
  const counts = (name: string) => counted.has(name);
  const sources = [
    ...new Set(
      Object.values(specs.peripherals).flatMap(({ context }) =>
        Object.entries(context).flatMap(([field, { source, optional }]) =>
          source.kind === 'fruit' && !optional ? [JSON.stringify([source.peripheral, field])] : [],
        ),
      ),
    ),
  ].map((pair) => JSON.parse(pair) as [string, string]);
  const inherited = [
    ...new Set(
      Object.values(specs.peripherals).flatMap(({ context }) =>
        Object.entries(context).flatMap(([field, { source, optional }]) =>
          source.kind === 'inherit' && !optional && field !== 'session-id' ? [field] : [],
        ),
      ),
    ),
  ];
  // Counters beyond the largest number that a rule names are equal to every rule.
  const far = Math.max(1, ...(rules.match(/\d+/g) ?? []).map(Number).filter((count) => count < 1000)) + 1;
  const cap = (count: number) => Math.min(count, far);
  const countedVisits = Object.keys(specs.peripherals).filter((id) => counts(`visits.${id.replaceAll('-', '_')}`));
  const readsFruit = [...counted].some((name) => name.startsWith('fruit.'));
  const readsBackpack = [...counted].some((name) => name.startsWith('backpack.'));
  return (standing) => {
    const { visit, mode, closed, visits, fruits, backpack, patterns } = standing;
    const tests = testsOf(standing);
    const spec = visit && specs.peripherals[visit.peripheral];
    const implied = spec?.exits.some(({ implies }) => implies !== null);
    const seen = visit?.seen;
    const verdicts = implied
      ? [...new Set(seen?.runs.map(({ verdict, change }) => `${verdict}${change === standing.change}`))].toSorted()
      : [];
    return JSON.stringify([
      closed,
      mode,
      visit?.peripheral ?? null,
      visit?.expired ?? false,
      Object.keys(visits).length > 0,
      standing.successes > 0,
      tests.passed,
      tests.failed > 0,
      verdicts,
      patterns,
      sources.map(([peripheral, field]) => (fruits[peripheral]?.[field] ?? null) !== null),
      inherited.map((field) => (backpack[field] ?? null) !== null),
      counts('session.steps') ? cap(standing.steps) : 0,
      counts('session.denials') ? cap(standing.denials) : 0,
      counts('session.visits') ? cap(Object.values(visits).reduce((sum, count) => sum + count, 0)) : 0,
      counts('visit.steps') ? cap(visit?.steps ?? 0) : 0,
      counts('visit.denials') ? cap(visit?.denials ?? 0) : 0,
      counts('tests.count') ? cap(tests.count) : 0,
      countedVisits.map((id) => cap(visits[id] ?? 0)),
      readsFruit && spec
        ? Object.entries(fruitNow({ specs } as Pinned, standing, {})).filter(([field]) =>
            counts(`fruit.${field.replaceAll('-', '_')}`),
          )
        : 0,
      readsBackpack
        ? Object.entries(backpack).filter(([field]) => counts(`backpack.${field.replaceAll('-', '_')}`))
        : 0,
    ]);
  };
}
