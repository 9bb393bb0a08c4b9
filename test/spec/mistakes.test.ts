import { expect, it } from 'vitest';
import { loadBuiltInCatalogue } from '../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';

const LOOK = `id: look
purpose: Look around.
tools: [read, grep]
scope: full-codebase
entry: [default, from-fix]
exit:
  found: fix
  hop-fix: fix
context: { session-id: inherit }
fruit:
  found: { observed: list }
  summary: { stated: string, optional: true }
`;
const FIX = `id: fix
purpose: Change things.
tools: [read, edit]
scope: { paths: [src/] }
entry: [from-look]
exit:
  done: look
context: { summary: { take: from-look, optional: true } }
fruit:
  changes: { observed: integer }
limits: { steps: 10 }
`;
const GATE = `initial: discuss
modes:
  discuss: { effects: [coordinate] }
  diagnose: { effects: [observe] }
  execute: { effects: [act] }
transitions:
  - { from: discuss, to: diagnose }
reset: discuss
`;
const SOUND: { readonly [file: string]: string } = {
  'gate.yaml': GATE,
  'peripherals/fix.yaml': FIX,
  'peripherals/look.yaml': LOOK,
};
const catalogue = await loadBuiltInCatalogue();

function problemsOf(files: { readonly [file: string]: string }) {
  const sources = Object.entries({ ...SOUND, ...files }).map(([file, text]) => ({ file, text }));
  const parsed = parseSpecSet(sources, catalogue);
  return parsed.ok ? [] : parsed.problems;
}

it('the spec set before the mistakes has no problem', () => {
  expect(problemsOf({})).toEqual([]);
});

/** file, text to replace, replacement, path, line, message, suggestion */
type Mistake = readonly [string, string, string, string, number | undefined, string | RegExp, string | RegExp | null];

const look = 'peripherals/look.yaml';
const fix = 'peripherals/fix.yaml';
const MISTAKES: readonly Mistake[] = [
  [look, 'purpose: Look around.\n', '', 'peripherals.look', 1, '"purpose" is missing', /its work here/],
  [look, 'tools: [', 'tolls: [', 'peripherals.look.tolls', 3, 'unknown key "tolls"', 'did you mean "tools"?'],
  [look, 'grep', 'gerp', 'peripherals.look.tools.1', 3, 'unknown tool "gerp"', 'did you mean "grep"?'],
  [look, 'grep', 'read', 'peripherals.look.tools.1', 3, '"read" is listed twice', 'keep one of them'],
  [look, 'full-codebase', 'full-code', 'peripherals.look.scope', 4, 'unknown scope "full-code"', /full-codebase/],
  [look, 'from-fix', 'from-fx', 'peripherals.look.entry.1', 5, /"from-fx"/, 'did you mean "from-fix"?'],
  [look, '[default, from-fix]', '[from-fx, tests-passed]', 'peripherals.look.entry.0', 5, /"from-fx"/, /from-fix/],
  [look, '[default, from-fix]', 'tests-passed', 'peripherals.look.entry', 5, 'names only conditions', /add a source/],
  [look, 'from-fix]', 'default]', 'peripherals.look.entry.1', 5, '"default" is listed twice', 'keep one of them'],
  [look, '[default, from-fix]', '7', 'peripherals.look.entry', 5, 'expected a name or a list, got 7', null],
  [
    look,
    'found: fix',
    'found: fxi',
    'peripherals.look.exit.found',
    7,
    'unknown peripheral "fxi"',
    'did you mean "fix"?',
  ],
  [
    look,
    'found: fix',
    'found: [fix, fix]',
    'peripherals.look.exit.found.1',
    7,
    '"fix" is listed twice',
    'keep one of them',
  ],
  [
    look,
    'hop-fix: fix',
    'hop-fix: look',
    'peripherals.look.exit.hop-fix',
    8,
    'hop-fix does not open "fix"',
    /opens look/,
  ],
  [look, 'hop-fix: fix', 'Hop: fix', 'peripherals.look.exit.Hop', 8, /is not a name/, null],
  [
    look,
    'found: fix',
    'found: { to: fix, when: size(fruit.fuond) > 0 }',
    'peripherals.look.exit.found.when',
    7,
    'unknown fact "fruit.fuond"',
    'did you mean "fruit.found"?',
  ],
  [look, '{ observed: list }', '{ observed: lsit }', 'peripherals.look.fruit.found.observed', 11, /"lsit"/, /"list"/],
  [
    look,
    'found: { ob',
    'fuond: { ob',
    'peripherals.look.fruit.fuond',
    11,
    /not an observation/,
    /did you mean "found"/,
  ],
  [
    look,
    '{ observed: list }',
    '{ observed: list, from: fund }',
    'peripherals.look.fruit.found.from',
    11,
    'unknown observation "fund"',
    'did you mean "found"?',
  ],
  [look, 'inherit', 'inhreit', 'peripherals.look.context.session-id', 9, /context source/, 'did you mean "inherit"?'],
  [
    look,
    'found: { observed: list }',
    'a-b: { observed: [found, lost], from: result }\n  c: { observed: [found], from: result }',
    'peripherals.look.exit.found',
    7,
    '"found" is a value of a-b and of c',
    /rename the exit.*when: 'fruit.a_b == "found" && fruit.c == "found"'/,
  ],
  [look, 'id: look', 'id: lok', 'peripherals.lok.id', 1, '"lok" is in look.yaml', 'rename the file to lok.yaml'],
  [look, 'id: look', 'id: look\nid: look', 'peripherals.look', 2, 'duplicate key: id', 'keep one of them'],
  [look, 'id: look', 'id: look: see', 'peripherals.look', 1, /compact mappings/, null],
  [fix, 'from-look, opt', 'from-lok, opt', 'peripherals.fix.context.summary.take', 8, /"lok"/, 'did you mean "look"?'],
  [fix, '{ summary:', '{ sumary:', 'peripherals.fix.context.sumary.take', 8, /no fruit "sumary"/, /"summary"/],
  [fix, 'steps: 10', 'steps: 0', 'peripherals.fix.limits.steps', 11, 'must be more than 0', null],
  [fix, 'steps: 10', 'steps: 1.5', 'peripherals.fix.limits.steps', 11, 'expected a whole number, got 1.5', null],
  [fix, 'purpose: Change things.', 'purpose: ""', 'peripherals.fix.purpose', 2, 'must not be empty', null],
  [fix, '[from-look]', '[]', 'peripherals.fix.entry', 5, 'must not be empty', null],
  [fix, 'src/]', '/src]', 'peripherals.fix.scope.paths.0', 4, /absolute/, null],
  [fix, 'src/]', 'a/../../b]', 'peripherals.fix.scope.paths.0', 4, /contains \.\./, null],
  [fix, 'src/]', '""]', 'peripherals.fix.scope.paths.0', 4, /empty/, null],
  [fix, 'src/]', '"src\\\\a"]', 'peripherals.fix.scope.paths.0', 4, /backslash/, null],
  [fix, 'src/]', '"src\\0"]', 'peripherals.fix.scope.paths.0', 4, /NUL/, null],
  [
    fix,
    'limits:',
    'gates: { look: [{ when: session.steps }] }\nlimits:',
    'peripherals.fix.gates.look.0.when',
    11,
    /type int/,
    'compare it',
  ],
  [
    fix,
    'limits:',
    'gates: { look: [{ when: "1 +" }] }\nlimits:',
    'peripherals.fix.gates.look.0.when',
    11,
    /not valid/,
    null,
  ],
  [
    fix,
    'limits:',
    'gates: { look: [{ when: sesion.steps > 1 }] }\nlimits:',
    'peripherals.fix.gates.look.0.when',
    11,
    /"sesion"/,
    'did you mean "session"?',
  ],
  [
    fix,
    'limits:',
    'gates: { look: [{ approval: nobody }] }\nlimits:',
    'peripherals.fix.gates.look.0.approval',
    11,
    /"nobody"/,
    'known: operator',
  ],
  [
    fix,
    'limits:',
    'gates: { lok: [{ approval: operator }] }\nlimits:',
    'peripherals.fix.gates.lok',
    11,
    /"lok"/,
    /"look"/,
  ],
  [
    fix,
    'exit:\n  done: look',
    'exit: {}\ngates: { look: [{ approval: operator }] }',
    'peripherals.fix.gates.look',
    7,
    'no exit opens "look"',
    /remove the gate/,
  ],
  [
    fix,
    'done: look',
    'hop-fix: fix',
    'peripherals.fix.exit.hop-fix',
    7,
    /does not admit fix/,
    'add from-fix to the entry of fix',
  ],
  ['gate.yaml', 'to: diagnose', 'to: diagnosis', 'gate.transitions.0.to', 7, /"diagnosis"/, 'did you mean "diagnose"?'],
  ['gate.yaml', 'to: diagnose', 'to: discuss', 'gate.transitions.0.to', 7, /to itself/, 'name another mode'],
  ['gate.yaml', '[act]', '[acts]', 'gate.modes.execute.effects.0', 5, /"acts"/, 'did you mean "act"?'],
  ['gate.yaml', '[act]', '[act], peripherals: [fiks]', 'gate.modes.execute.peripherals.0', 5, /"fiks"/, /"fix"/],
];

it.each(MISTAKES)(
  'in %s, "%s" changed to "%s" is reported at %s',
  (file, from, to, path, line, message, suggestion) => {
    const text = SOUND[file]!.replace(from, () => to);
    expect(text).not.toBe(SOUND[file]);
    expect(problemsOf({ [file]: text })).toEqual([
      expect.objectContaining({
        file,
        path,
        ...(line === undefined ? {} : { line }),
        message: message instanceof RegExp ? expect.stringMatching(message) : message,
        suggestion: suggestion instanceof RegExp ? expect.stringMatching(suggestion) : suggestion,
      }),
    ]);
  },
);

it('every mistake of each file is reported together, without consequences of another', () => {
  const found = problemsOf({
    [look]: LOOK.replace('tools: [', 'tolls: [').replace('found: { observed', 'found: { obsreved'),
    [fix]: FIX.replace('src/', '../src').replace('edit]', 'edti]'),
    'gate.yaml': GATE.replace('reset: discuss', 'reset: discus'),
    'conditions.yaml': 'conditions: { calm: visit.denails == 0, tests-passed: "true" }',
    'tools.yaml': 'tools: { dig: { purpose: Digs., effect: observes, parameters: [], limits: { seconds: 1 } } }',
  });
  expect(found.map(({ file, path }) => `${file} ${path}`).sort()).toEqual(
    [
      'conditions.yaml conditions.calm',
      'conditions.yaml conditions.tests-passed',
      'gate.yaml gate.reset',
      'peripherals/fix.yaml peripherals.fix.scope.paths.0',
      'peripherals/fix.yaml peripherals.fix.tools.1',
      'peripherals/look.yaml peripherals.look.fruit.found.obsreved',
      'peripherals/look.yaml peripherals.look.tolls',
      'tools.yaml tools.dig.effect',
      'tools.yaml tools.dig.limits',
    ].sort(),
  );
});

it.each([
  ['an unreadable peripheral', look, LOOK.replace('entry: [', 'entry: [['), [look]],
  ['a faulty entry, where a hop leads', fix, FIX.replace('[from-look]', '[from-lok]'), [fix]],
  ['a faulty fruit field, which a context names', look, LOOK.replace('stated: string', 'stated: strnig'), [look]],
  [
    'a faulty exit, whose destination has a gate',
    fix,
    FIX.replace('done: look', 'done: lok\ngates: { look: [{ when: "true" }] }'),
    [fix],
  ],
] as const)('only the problem itself is reported: %s', (_, file, text, files) => {
  const found = problemsOf({ [file]: text });
  expect([...new Set(found.map((problem) => problem.file))]).toEqual(files);
  expect(found.filter(({ path }) => path.includes('hop-') || path.includes('gates'))).toEqual([]);
});

it('peripherals may name tools and scopes whose definitions are invalid', () => {
  const found = problemsOf({
    'tools.yaml': 'tools: { dig: 3 }',
    'scopes.yaml': 'scopes: { pit: 3 }',
    [look]: LOOK.replace('grep', 'dig').replace('full-codebase', 'pit'),
  });
  expect(found.map(({ path }) => path)).toEqual(['tools.dig', 'scopes.pit']);
});

it('a condition with a source’s name is refused', () => {
  const found = problemsOf({ 'conditions.yaml': 'conditions: { from-look: "true" }' });
  expect(found.map(({ path }) => path)).toEqual(['conditions.from-look']);
});

it.each(['outside', 'closed', 'any'])('%s is refused as the id of a peripheral', (id) => {
  const [problem] = problemsOf({ [`peripherals/${id}.yaml`]: LOOK.replace('id: look', `id: ${id}`) });
  expect(problem).toMatchObject({ path: `peripherals.${id}.id`, message: `"${id}" is reserved` });
});

it('an id in two files is refused with the second file’s name', () => {
  const found = problemsOf({ 'more/look.yaml': LOOK });
  expect(found).toEqual([
    expect.objectContaining({ file: 'more/look.yaml', path: 'peripherals.look.id', suggestion: 'rename one of them' }),
  ]);
});

it.each([
  ['exit.done', 'done: look', 'done: constructor'],
  ['fruit.constructor', 'changes: {', 'constructor: {'],
  ['context.constructor', 'context: { summary', 'context: { constructor'],
])('a name that every object inherits is refused at %s', (path, usual, changed) => {
  const [problem] = problemsOf({ [fix]: FIX.replace(usual, changed) });
  expect(problem).toMatchObject({ path: `peripherals.fix.${path}`, message: expect.stringMatching(/not constructor/) });
});

it('a spec set without peripherals is refused', () => {
  const parsed = parseSpecSet([{ file: 'gate.yaml', text: GATE }], catalogue);
  expect(parsed).toMatchObject({ ok: false, problems: [{ path: 'peripherals', message: /no peripherals/ }] });
});

it('a required parameter after an optional one, and an invalid JSON Schema, are refused', () => {
  const tool = (parameters: string) =>
    `tools: { dig: { purpose: Digs., effect: act, parameters: [${parameters}], limits: { seconds: 1, output-bytes: 1 } } }`;
  const parameter =
    '{ name: a, role: text, description: A., optional: true }, { name: b, role: text, description: B. }';
  expect(problemsOf({ 'tools.yaml': tool(parameter) })).toMatchObject([
    { path: 'tools.dig.parameters.1', suggestion: 'put optional ones last' },
  ]);
  const wrong = '{ name: a, role: text, description: A., schema: { type: strnig } }';
  expect(problemsOf({ 'tools.yaml': tool(wrong) })).toMatchObject([{ path: 'tools.dig.parameters.0.schema' }]);
});

it('a tool may not have the name of a control, which would get the calls of the tool', () => {
  const status = {
    purpose: 'Says how it is.',
    effect: 'act',
    parameters: [],
    limits: { seconds: 1, 'output-bytes': 9 },
  };
  expect(problemsOf({ 'tools.yaml': JSON.stringify({ tools: { status, state: status } }) })).toMatchObject([
    { path: 'tools.status', message: '"status" is a control that every agent has', suggestion: 'choose another name' },
  ]);
});
