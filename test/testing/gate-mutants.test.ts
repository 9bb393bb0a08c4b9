import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** The gate with one rule dropped: file, what stands there, and what takes its place. Each has to turn the generated tests red. */
const MUTANTS: readonly (readonly [rule: string, file: string, from: string, to: string])[] = [
  ['a tool has to be in the envelope', 'decide-step.ts', '!spec.tools.includes(tool.id)', 'false'],
  ['the mode allows the effect', 'decide-step.ts', '!specs.gate.effects[view.mode].includes(tool.effect)', 'false'],
  ['a visit has so many steps', 'decide-step.ts', 'visit.steps >= limits.steps', 'false'],
  ['a visit has so many minutes', 'decide-step.ts', 'return late ?', 'return false && late ?'],
  ['arguments fit the catalogue', 'arguments.ts', 'if (validate(value)) return null;', 'return null;'],
  [
    'no argument has an unknown name',
    'arguments.ts',
    '!tool.parameters.some((parameter) => parameter.name === name)',
    'false',
  ],
  ['what is required is there', 'arguments.ts', 'if (parameter.required)', 'if (false)'],
  [
    'paths stay beneath the root',
    'paths.ts',
    "path === '..' || path.startsWith('../') || posix.isAbsolute(path)",
    'false',
  ],
  ['masks hide', 'scope.ts', 'isMasked(located.path, config.mask)', 'false'],
  ['nothing that steers is written', 'scope.ts', 'isProtected(located.path)', 'false'],
  ['writes stay in the scope', 'scope.ts', 'within(located.path, scope.write)', 'true'],
  ['a scope that reads nothing', 'scope.ts', "scope.read === 'none'", 'false'],
  [
    'a scope that reads what was named',
    'scope.ts',
    "scope.read === 'session-log' && !within(located.path, files)",
    'false',
  ],
  [
    'one visit at a time',
    'decide-visit.ts',
    "if (view.visit) return deny(context, 'already-active', { peripheral: view.visit.peripheral });\n  const target",
    'const target',
  ],
  [
    'a session closes outside',
    'decide-visit.ts',
    "if (view.visit) return deny(context, 'already-active', { peripheral: view.visit.peripheral });\n  return",
    'return',
  ],
  [
    'an exit opens its targets',
    'decide-visit.ts',
    'const edge = edges.find((candidate) => candidate.exit === exit);',
    'const edge = edges[0];',
  ],
  ['a stated exit needs a reason', 'decide-visit.ts', 'edge.implies === null && !isText(request.reason)', 'false'],
  [
    'an exit implies its value',
    'requirement.ts',
    'Object.hasOwn(facts.fruit, requirement.field) && facts.fruit[requirement.field] === requirement.value',
    'true',
  ],
  ['a user-request is the operator’s', 'requirement.ts', 'return facts.by === requirement.is;', 'return true;'],
  [
    'an entry admits its sources',
    'requirement.ts',
    'return requirement.any.some((source) => applies(source, facts));',
    'return true;',
  ],
  ['default is for the first visit', 'requirement.ts', 'return facts.firstVisit;', 'return true;'],
  [
    'an agent asks at a natural close',
    'requirement.ts',
    "facts.by !== 'agent' || facts.naturalClose || facts.atSessionClose",
    'true',
  ],
  ['conditions hold', 'requirement.ts', 'return holds(facts.conditions, requirement.name);', 'return true;'],
  ['rules in CEL hold', 'requirement.ts', 'return holds(facts.when, requirement.cel);', 'return true;'],
  ['agents are listed', 'requirement.ts', 'return requirement.any.includes(facts.agent);', 'return true;'],
  ['a destination’s gates bind', 'decide-visit.ts', 'if (shut) return conditionFailed(context, target, shut);', ''],
  [
    'an approval is needed to hop',
    'decide-visit.ts',
    "const needsApproval = gates.some(({ kind }) => kind === 'approval');",
    'const needsApproval = false;',
  ],
  ['context is demanded', 'context.ts', 'else if (!optional)', 'else if (false)'],
  ['a stated fruit is there', 'fruit.ts', 'else if (!rule.optional)', 'else if (false)'],
  ['a stated fruit has its type', 'fruit.ts', 'return hasType(value, rule.type) ? null', 'return true ? null'],
  [
    'an observed fruit is not made up',
    'fruit.ts',
    'JSON.stringify(observed[field] ?? null) === JSON.stringify(value)',
    'true',
  ],
  [
    'modes follow the gate',
    'decide-mode.ts',
    "if (!transition) return refuse('the gate has no such transition');",
    "if (!transition) return { ok: true, plan: { from, to, how: 'reset', event: { type: 'reset', facts: requirementFacts(specs, view, [], { by: 'operator' }) }, approval: null } };",
  ],
  ['a summary is given', 'decide-mode.ts', 'if (transition.summary &&', 'if (false &&'],
  ['a mode is approved', 'decide-mode.ts', 'if (transition.approval) {', 'if (false) {'],
  ['a reset is the operator’s', 'decide-mode.ts', "how === 'reset' && request.by !== 'operator'", 'false'],
];

const RUNNER = `
import { loadSpecs } from './src/spec/load-specs.ts';
import { generateTests } from './src/testing/test-specs.ts';
import { REVIEW, RUNBOOK, specsOf } from './test/testing/spec-sets.ts';
import { EXTRA } from './test/testing/gate-mutants-specs.ts';
let red = 0;
for (const [specs, agent] of [['default'], [specsOf(REVIEW)], [specsOf(RUNBOOK)], [specsOf(EXTRA), 'stranger']]) {
  const { tests } = await generateTests(specs, { deaths: false, ...(agent ? { agent } : {}) });
  for (const { run } of tests) {
    if (red === 0) await run().catch(() => { red += 1; });
  }
}
console.log(red);
`;

const run = promisify(execFile);
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'hopgate-mutants-'));
  for (const name of ['src', 'specs', 'package.json']) cpSync(name, join(folder, name), { recursive: true });
  cpSync('test/testing', join(folder, 'test/testing'), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'runner.ts'), RUNNER);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function redWith(file: string, text: string): Promise<number> {
  const path = join(folder, 'src/gate', file);
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, text);
  try {
    const { stdout } = await run(process.execPath, [join(folder, 'runner.ts')], { cwd: folder });
    return Number(stdout.trim());
  } finally {
    writeFileSync(path, before);
  }
}

describe('the generated tests', () => {
  it('are green over the gate as it is', async () => {
    const file = 'decide-step.ts';
    expect(await redWith(file, readFileSync(join('src/gate', file), 'utf8'))).toBe(0);
  });

  it.each(MUTANTS)('turn red when the gate forgets that %s', async (_rule, file, from, to) => {
    const text = readFileSync(join('src/gate', file), 'utf8');
    expect(text).toContain(from);
    expect(await redWith(file, text.replace(from, to))).toBeGreaterThan(0);
  });
});
