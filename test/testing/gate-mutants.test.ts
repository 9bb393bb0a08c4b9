import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDeep } from '../depth.ts';

/**
 * The gate with one rule dropped: file, the original text, and its replacement. Each must turn the generated tests red.
 * Tests whose name has the text `first` run first, because one of them notices the mutant; without it, many would run.
 */
const MUTANTS: readonly (readonly [rule: string, file: string, from: string, to: string, first?: string])[] = [
  [
    'a tool has to be in the envelope',
    'decide-step.ts',
    '!spec.tools.includes(tool.id)',
    'false',
    'in hall: everything',
  ],
  [
    'the mode allows the effect',
    'decide-step.ts',
    'if (mode && !allows(mode, tool.effect))',
    'if (false)',
    'in lab: everything',
  ],
  [
    'a visit has so many steps',
    'decide-step.ts',
    'visit.steps >= limits.steps',
    'false',
    'test: 100 steps are the limit',
  ],
  [
    'a visit has so many minutes',
    'decide-step.ts',
    'return isTimeUp(view) ?',
    'return false && isTimeUp(view) ?',
    'test: 30 minutes are the limit',
  ],
  [
    'arguments fit the catalogue',
    'bind-arguments.ts',
    'if (validate(value)) return null;',
    'return null;',
    'in attic: everything',
  ],
  [
    'no argument has an unknown name',
    'bind-arguments.ts',
    '!tool.parameters.some((parameter) => parameter.name === name)',
    'false',
  ],
  ['what is required is there', 'bind-arguments.ts', 'if (parameter.required)', 'if (false)'],
  [
    'paths stay beneath the root',
    'scope/locate-path.ts',
    "path === '..' || path.startsWith('../') || posix.isAbsolute(path)",
    'false',
    'in lab: everything',
  ],
  ['masks hide', 'scope/scope-problem.ts', 'isMaskedByConfig(located.path, config.mask)', 'false'],
  [
    'nothing that steers is written',
    'scope/scope-problem.ts',
    'isWriteProtected(located.path)',
    'false',
    'in edit: everything',
  ],
  ['writes stay in the scope', 'scope/scope-problem.ts', 'writePathReason(located.path, scope.write)', 'null'],
  ['a scope that reads nothing', 'scope/scope-problem.ts', "scope.read === 'none'", 'false', 'in cellar: everything'],
  [
    'a scope that reads what was named',
    'scope/scope-problem.ts',
    "scope.read === 'session-log' && !files.includes(located.path)",
    'false',
    'in reflect: everything',
  ],
  [
    'a scope grants the resource',
    'scope/scope-problem.ts',
    'resourceProblem(value, patterns);',
    'null as ReturnType<typeof resourceProblem>;',
    'in till: everything',
  ],
  [
    'one visit at a time',
    'decide-visit.ts',
    "if (view.visit) return makeDenial(context, 'already-active', { peripheral: view.visit.peripheral });\n  const target",
    'const target',
  ],
  [
    'a session closes outside',
    'decide-visit.ts',
    "if (view.visit) return makeDenial(context, 'already-active', { peripheral: view.visit.peripheral });\n  return",
    'return',
  ],
  ['an exit opens its targets', 'find-edge.ts', 'exit === undefined || edge.exit === exit', 'true'],
  [
    'a stated exit needs a reason',
    'decide-visit.ts',
    'edge.implies === null && !isNonBlankText(request.reason)',
    'false',
  ],
  [
    'an exit implies its value',
    'requirements/requirement.ts',
    'Object.hasOwn(fruit, field) && fruit[field] === value',
    'true',
    'test: 30 minutes are the limit',
  ],
  ['a user-request is the operator’s', 'requirements/requirement.ts', 'by === is,', 'true,', 'in chat: everything'],
  [
    'an entry admits its sources',
    'requirements/requirement.ts',
    'any.some((source) => sourceApplies(source, facts))',
    'true',
  ],
  [
    'default is for the first visit',
    'requirements/requirement.ts',
    'default: facts.firstVisit',
    'default: true',
    'in outside: everything',
  ],
  [
    'an agent asks at a natural close',
    'requirements/requirement.ts',
    "facts.by !== 'agent' || facts.naturalClose || facts.atSessionClose",
    'true',
  ],
  [
    'conditions hold',
    'requirements/requirement.ts',
    'getOwn(conditions, name) === true',
    'true',
    'in triage: everything',
  ],
  ['rules in CEL hold', 'requirements/requirement.ts', 'getOwn(when, cel) === true', 'true', 'in hall: everything'],
  ['agents are listed', 'requirements/requirement.ts', 'any.includes(agent)', 'true'],
  [
    'a destination’s gates bind',
    'decide-visit.ts',
    'if (failedGate) return refuseCondition(context, target, failedGate, fruit);',
    '',
    'hall down.cellar: condition-failed',
  ],
  [
    'an approval is needed to hop',
    'decide-visit.ts',
    "const needsApproval = gates.some(({ kind }) => kind === 'approval');",
    'const needsApproval = false;',
    'test: 100 steps are the limit',
  ],
  ['context is demanded', 'transfer-context.ts', 'else if (!optional)', 'else if (false)', 'in study: everything'],
  ['a stated fruit is there', 'fruit.ts', 'else if (!rule.optional)', 'else if (false)'],
  [
    'a stated fruit has its type',
    'fruit.ts',
    'return isValueOfFruitType(value, rule.type) ? null',
    'return true ? null',
  ],
  [
    'an observed fruit is not made up',
    'fruit.ts',
    'JSON.stringify(observed[field] ?? null) === JSON.stringify(value)',
    'true',
  ],
  [
    'modes follow the gate',
    'decide-mode.ts',
    'if (!transition)',
    "if (!transition) return { ok: true, plan: { from, to, how: 'reset', event: { type: 'reset', facts: collectRequirementFacts(specs, view, [], { by: 'operator' }) }, approval: null } };\n  if (!transition)",
    'test: 100 steps are the limit',
  ],
  ['a summary is given', 'decide-mode.ts', 'if (transition.summary &&', 'if (false &&'],
  ['a mode is approved', 'decide-mode.ts', 'if (transition.approval) {', 'if (false) {'],
  ['a reset is the operator’s', 'decide-mode.ts', "how === 'reset' && request.by !== 'operator'", 'false'],
  [
    'an approval is for one session',
    'approvals/approval.ts',
    'if (approval.sessionId !== request.sessionId)',
    'if (false)',
    'outside to.execute: by approvals for something else',
  ],
  [
    'an approval is for one thing',
    'approvals/approval.ts',
    'if (approval.requestHash !== request.requestHash)',
    'if (false)',
  ],
  ['an approval is over some day', 'approvals/approval.ts', 'if (now >= approval.expiresAt)', 'if (false)'],
  ['an approval is valid once', 'approvals/approval.ts', 'if (usedNonces.includes(approval.nonce))', 'if (false)'],
  [
    'an approval is judged',
    'approvals/check-approval.ts',
    "return problem ? makeDenial(context, 'approval-invalid'",
    "return false ? makeDenial(context, 'approval-invalid'",
  ],
  ['arguments are an object', 'bind-arguments.ts', 'if (!isObject(args))', 'if (false)', 'in yard: everything'],
  [
    'a whole number is whole',
    'bind-arguments.ts',
    "typeof value !== 'number' || !Number.isInteger(value)",
    "typeof value !== 'number'",
    'in hall: everything',
  ],
  [
    'a number has a smallest value',
    'bind-arguments.ts',
    "typeof minimum === 'number' && value < minimum",
    'false',
    'in hall: everything',
  ],
  [
    'a number has a largest value',
    'bind-arguments.ts',
    "typeof maximum === 'number' && value > maximum",
    'false',
    'in discipline: everything',
  ],
  [
    'a rule that cannot be evaluated denies',
    'requirements/evaluate-rule.ts',
    '} catch {\n    return false;',
    '} catch {\n    return true;',
    'in front-desk: everything',
  ],
  ['rules speak of names with _', 'requirements/evaluate-rule.ts', "key.replaceAll('-', '_')", 'key'],
  [
    'rules count in whole numbers',
    'requirements/evaluate-rule.ts',
    'Number.isSafeInteger(value) ? BigInt(value) : value',
    'value',
  ],
  ['rules see the mode', 'requirements/requirement-facts.ts', 'mode: view.mode,', 'mode: null,'],
  ['rules see refusals', 'requirements/requirement-facts.ts', 'denials: view.denials,', 'denials: 0,'],
  ['rules see visits', 'requirements/requirement-facts.ts', 'visits: view.visits,', 'visits: {},'],
  ['rules see the backpack', 'requirements/requirement-facts.ts', 'backpack: view.backpack,', 'backpack: {},'],
  [
    'rules see test runs',
    'requirements/requirement-facts.ts',
    'tests: { passed: view.tests.passed, count: view.tests.count, failed: view.tests.failed },',
    'tests: {},',
  ],
  [
    'nobody says who the session is',
    'transfer-context.ts',
    'filter(([field]) => !SESSION_IDENTITY_FIELDS.includes(field))',
    'filter(() => true)',
    'lobby: a start with another identity after a stop',
  ],
  [
    'context is of its source',
    'transfer-context.ts',
    'return (getOwn(latest, source.peripheral) ?? getOwn(view.fruits, source.peripheral))?.[field];',
    'return view.backpack[field];',
    'in study: everything',
  ],
  [
    'what is inherited is carried',
    'decide-visit.ts',
    'const backpack = { ...view.backpack, ...backpackFieldsOf(fruit) };',
    'const { backpack } = view;',
    'in press: everything',
  ],
  [
    'context is demanded of a hop',
    'decide-visit.ts',
    'if (carried.missing.length > 0) return refuseMissingContext(context, target, carried.missing);',
    '',
  ],
  [
    'a hop yields a fruit that fits',
    'decide-visit.ts',
    'if (!stop.ok) return stop;\n  const { fruit } = stop.plan;',
    'const fruit = stop.ok ? stop.plan.fruit : (request.fruit ?? {});',
  ],
  [
    'a mode lets only some peripherals be entered',
    'refuse-visit.ts',
    'if (!allowed || allowed.includes(target.id)) return null;',
    'return null;',
    'outside, before anything happened: everything',
  ],
  [
    'a session closes once',
    'decide-visit.ts',
    "if (view.closed) return makeDenial(context, 'session-closed', {});\n  if (view.visit) return makeDenial(context, 'already-active', { peripheral: view.visit.peripheral });\n  return",
    "if (view.visit) return makeDenial(context, 'already-active', { peripheral: view.visit.peripheral });\n  return",
    'hall: nothing is possible after stop and close',
  ],
  [
    'a reset leads away',
    'decide-mode.ts',
    "if (from === to) return refuse('the session is in this mode already');\n    const facts",
    'const facts',
  ],
  [
    'time is up at the deadline',
    'session-view.ts',
    "visit.status === 'expired' || (visit.deadline !== null && now >= visit.deadline)",
    "visit.status === 'expired'",
    'test: 30 minutes are the limit',
  ],
  [
    'a repository names its own paths',
    'decide-step.ts',
    'return paths && rule.write.length > 0 ? { ...rule, write: paths } : rule;',
    'return rule;',
    'in lab: everything',
  ],
  [
    'a repository grants no writing',
    'decide-step.ts',
    'return paths && rule.write.length > 0',
    'return paths',
    'in study: everything',
  ],
  [
    'a tool is told which files may be read',
    'decide-step.ts',
    "readableFiles: scope.read === 'session-log' ? view.files : null",
    'readableFiles: null',
    'in reflect: everything',
  ],
  [
    'no name of the language is a tool',
    'decide-step.ts',
    "typeof id === 'string' && Object.hasOwn(specs.tools, id) ? specs.tools[id] : undefined",
    'specs.tools[id]',
  ],
  [
    'a stated value is one of its list',
    'fruit.ts',
    "typeof value === 'string' && type.includes(value)",
    'true',
    'in attic: everything',
  ],
  ['a stated number is one', 'fruit.ts', "number: (value) => typeof value === 'number'", 'number: () => true'],
  [
    'sub-agents start where the peripheral delegates',
    'decide-delegate.ts',
    'if (!delegate || !edge) return',
    'if (!edge) return',
  ],
  ['an entry binds sub-agents', 'decide-delegate.ts', 'unmetRequirements(entry, facts)', '[]'],
  ['gates bind sub-agents', 'decide-delegate.ts', 'unmetRequirements(gates, facts)', '[]'],
  [
    'tools of the agency are lent',
    'decide-delegate.ts',
    "(tools && delegate.within !== 'own')",
    'false',
    'study run.guests',
  ],
  [
    'a HEAD makes a repository',
    'scope/masks.ts',
    'if (written.at(-1) === GIT_HEAD_FILE) return true;',
    '',
    'in edit: everything',
  ],
];

it('every mutant changes existing code of the gate', () => {
  const gone = MUTANTS.filter(([, usual, from]) => whereIs(from, usual) === undefined);
  expect(gone.map(([rule]) => rule)).toEqual([]);
});

describe.runIf(isDeep)('the generated tests', () => {
  /**
   * A process of its own, because only Node's loader replaces a module; one for all mutants, because it plans the tests
   * once.
   */
  let runner: ChildProcess;
  let died: Promise<never>;
  beforeAll(() => {
    runner = fork(join(import.meta.dirname, 'gate-mutants-runner.ts'), { execArgv: [] });
    died = once(runner, 'exit').then(([code]) => Promise.reject(new Error(`the runner ended with ${code}`)));
    died.catch(() => undefined);
  });
  afterAll(() => runner.kill());

  /** The name of the first generated test that fails over a gate whose file has this text, or null if all pass. */
  async function redWith(file: string, text: string, first = ''): Promise<string | null> {
    const answer = once(runner, 'message');
    runner.send({ file, text, first });
    const [{ red }] = (await Promise.race([answer, died])) as [{ readonly red: string | null }];
    return red;
  }

  it.each(['decide-step.ts', 'requirements/requirement-facts.ts'])(
    'pass with the unchanged gate, with %s unchanged',
    async (file) => {
      expect(await redWith(file, readFileSync(join('src/gate', file), 'utf8'))).toBe(null);
    },
  );

  const mutants = MUTANTS.map(([rule, usual, from, to, first]) => ({ rule, usual, from, to, first }));
  it.each(mutants)('fail if the gate forgets that $rule', async ({ usual, from, to, first = '' }) => {
    const file = whereIs(from, usual);
    expect(file, `no file of src/gate has: ${from}`).toBeDefined();
    const text = readFileSync(join('src/gate', file!), 'utf8');
    expect(await redWith(file!, text.replace(from, to), first)).not.toBe(null);
  });
});

/** The file that holds a rule: the one where it was last seen, or where it has moved to. */
function whereIs(from: string, usual: string): string | undefined {
  const files = readdirSync('src/gate', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  files.sort((a, b) => Number(b.endsWith(usual)) - Number(a.endsWith(usual)));
  return files.find((file) => readFileSync(join('src/gate', file), 'utf8').includes(from));
}
