import { GATE } from './spec-sets.ts';

/**
 * A spec set with features that the other sets lack: other agents, tools in a scope that reads nothing, facts of every
 * kind, fruits of every type.
 */
export const EXTRA = {
  'tools.yaml': `
tools:
  pay:
    purpose: Pays from an account.
    effect: act
    parameters: [{ name: account, role: resource, description: The account. }]
    limits: { seconds: 1, output-bytes: 100 }
`,
  'peripherals/hall.yaml': `
id: hall
purpose: Come in.
tools: [read]
scope: full-codebase
entry: [default, from-any]
exit: { in: vault, down: cellar, up: attic, across: study, out: yard, buy: till }
delegates: [vault, { to: cellar, within: own }]
gates: { cellar: [{ when: visit.steps > 0 }] }
`,
  'peripherals/vault.yaml': `
id: vault
purpose: For the keeper alone.
tools: [read]
scope: full-codebase
entry: [from-hall]
exit: { out: hall }
agents: [keeper]
`,
  'peripherals/cellar.yaml': `
id: cellar
purpose: It is dark here.
tools: [read, bash-readonly, web-fetch]
scope: conversation
entry: [from-hall]
exit: { up: hall }
`,
  'peripherals/attic.yaml': `
id: attic
purpose: Fruits of every type, and what becomes of them.
tools: [psr-select, pur-update]
scope: conversation
entry: [from-hall, from-study]
exit: { down: study, post: press }
fruit:
  kind: { stated: [old, new] }
  name: { stated: string }
  count: { stated: integer }
  weight: { stated: number }
  whole: { stated: boolean }
  parts: { stated: list }
  about: { stated: object }
  note: { stated: string, optional: true }
`,
  'peripherals/study.yaml': `
id: study
purpose: What was found, and what rules make of it.
tools: [read]
scope: full-codebase
entry: [from-hall, from-attic, from-yard]
exit: { up: attic, rest: hall, publish: press, show: fair }
delegates: [press, { agency: guests }, { agency: smiths, within: own }]
fruit: { name: { stated: string }, result: { observed: [pass, fail, flaky] } }
`,
  'peripherals/press.yaml': `
id: press
purpose: What leaves the house has a name from the attic, by a pattern that held.
tools: [read]
scope: full-codebase
entry: [from-study, from-attic]
exit: { done: hall }
context: { session-id: inherit, weight: inherit, name: from-attic, colour: { take: inherit, optional: true } }
`,
  'peripherals/yard.yaml': `
id: yard
purpose: Things are tried here.
tools: [bash-test]
scope: test-commands-only
entry: [from-hall]
exit: { in: study }
fruit: { result: { observed: [pass, fail, flaky] } }
`,
  'peripherals/till.yaml': `
id: till
purpose: Things are paid here.
tools: [pay]
scope: { resource: ["bank:small/*"] }
entry: [from-hall]
exit: { back: hall }
`,
  'peripherals/fair.yaml': `
id: fair
purpose: What was tried is shown, by patterns.
tools: [read]
scope: full-codebase
entry: [from-study]
exit: { home: hall }
context: { result: inherit }
`,
};

/** A rule over each fact, some that hold at some time, some that never do or cannot be evaluated. */
const RULES = [
  'session.steps == 2',
  'session.steps % 3 == 2',
  'session.denials == 1',
  'session.visits == 3',
  'session.agent == "tester"',
  'session.agent == ""',
  'session.mode == "diagnose"',
  'session.peripheral == "front-desk"',
  'visit.steps == 2',
  'visit.denials == 1',
  'visit.peripheral == "front-desk"',
  'visits.front_desk == 2',
  'tests.count == 1 && tests.failed == 1',
  'backpack.no_such_thing == "stated"',
  'backpack.last_word',
  'backpack.last_word == "stated"',
  'fruit.last_word == "stated"',
] as const;

/** Spec sets with two peripherals each and a door between them that opens only where a rule holds. */
export const FACTS = RULES.map((rule) => ({
  'gate.yaml': GATE,
  'peripherals/front-desk.yaml': `
id: front-desk
purpose: This side.
tools: [bash-test]
scope: test-commands-only
entry: [default, from-any]
exit: { through: { to: door, when: ${JSON.stringify(rule)} }, around: garden }
fruit: { last-word: { stated: string, optional: true } }
`,
  'peripherals/door.yaml': `
id: door
purpose: The other side.
tools: [read]
scope: full-codebase
entry: [from-any]
exit: { back: front-desk }
`,
  'peripherals/garden.yaml': `
id: garden
purpose: The way around.
tools: [read]
scope: full-codebase
entry: [from-any]
exit: { back: front-desk }
`,
}));

/** Modes that let only some peripherals be entered, and doors that patterns open. */
export const DOORS = {
  'gate.yaml': `
initial: discuss
modes:
  discuss: { effects: [observe, coordinate], peripherals: [lobby, bar] }
  diagnose: { effects: [observe, coordinate], peripherals: [lobby, bar, lab] }
  execute: { effects: [observe, act, coordinate] }
transitions:
  - { from: discuss, to: diagnose }
  - { from: diagnose, to: execute, approval: operator }
  - { from: execute, to: discuss, summary: true }
reset: discuss
`,
  'peripherals/lobby.yaml': `
id: lobby
purpose: Where everybody comes in.
tools: [read]
scope: full-codebase
entry: [default, from-any, user-request]
exit: { rest: bar, work: lab }
`,
  'peripherals/bar.yaml': `
id: bar
purpose: Patterns are talked over.
tools: [psr-select, pur-update]
scope: conversation
entry: [from-any, default]
exit: { back: lobby, work: lab, order: kitchen, dine: table }
gates:
  kitchen: [{ pattern: read-before-edit, is: selected }]
  table: [{ pattern: read-before-edit, is: held }]
`,
  'peripherals/lab.yaml': `
id: lab
purpose: Work.
tools: [read, edit]
scope: { paths: [src/] }
entry: [from-any, default, user-request]
exit: { back: lobby }
`,
  'peripherals/kitchen.yaml': `
id: kitchen
purpose: By a pattern that was selected.
tools: [read]
scope: full-codebase
entry: [from-bar]
exit: { back: bar }
`,
  'peripherals/table.yaml': `
id: table
purpose: By a pattern that held.
tools: [read]
scope: full-codebase
entry: [from-bar]
exit: { back: bar }
`,
};
