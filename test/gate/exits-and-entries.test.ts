import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Request } from '../../src/gate/request.ts';
import type { SessionView } from '../../src/gate/session-view.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { formatEntrySource } from '../../src/spec/names.ts';
import type { Json, SpecSet } from '../../src/spec/types.ts';
import { answer, contextOf, fixtureSpecs, viewOf, visitTo } from './views.ts';

const edited = { changes: 1, 'changed-files': ['src/a.ts'] };

/** The agent has worked here, and carries the context that the next peripheral requires. */
const inside = (
  peripheral: string,
  observedFruit: { readonly [field: string]: Json } = peripheral === 'edit' ? edited : {},
  some: Partial<SessionView> = {},
) =>
  viewOf({
    visit: visitTo(peripheral, { observedFruit, steps: 1 }),
    visits: { [peripheral]: 1 },
    naturalClose: true,
    tests: { passed: true, count: 1, failed: 0 },
    fruits: { explore: { 'target-files': ['src/a.ts'] }, edit: { ...edited, 'commit-message': 'Change a' } },
    ...some,
  });
const outside = (some: Partial<SessionView> = {}) => ({ ...inside('explore'), visit: null, ...some });
const first = () => outside({ visits: {} });

type By = 'agent' | 'operator';
const hop = (to: string, exit: string, by: By = 'agent', reason = 'because'): Request => ({
  kind: 'hop',
  to,
  exit,
  reason,
  by,
});
const start = (peripheral: string, by: By = 'agent'): Request => ({ kind: 'start', peripheral, by });

interface Row {
  readonly name: string;
  /** A state in which the condition holds, and the request. */
  readonly holds: readonly [SessionView, Request];
  /** A state in which it does not hold, the request, and the denial. */
  readonly fails: readonly [SessionView, Request, string];
}

/** An exit that is the agent’s statement: it holds with a reason, not without. */
const stated = (peripheral: string, exit: string, to: string): Row => ({
  name: `${peripheral} ${exit}`,
  holds: [inside(peripheral), hop(to, exit)],
  fails: [inside(peripheral), hop(to, exit, 'agent', ' '), 'exit-not-met'],
});
/** An exit that implies what was observed. */
const implied = (exit: string, to: string, other: Json): Row => ({
  name: `test ${exit}`,
  holds: [inside('test', { result: exit }), hop(to, exit, 'agent', '')],
  fails: [inside('test', { result: other }), hop(to, exit), 'exit-not-met'],
});

const EXITS: readonly Row[] = [
  {
    name: 'chat user-request',
    holds: [inside('chat'), hop('edit', 'user-request', 'operator')],
    fails: [inside('chat'), hop('edit', 'user-request'), 'exit-not-met'],
  },
  stated('chat', 'hop-explore', 'explore'),
  {
    name: 'chat hop-edit',
    holds: [inside('chat'), hop('edit', 'hop-edit', 'operator')],
    fails: [inside('chat'), hop('edit', 'hop-edit', 'operator', ' '), 'exit-not-met'],
  },
  stated('chat', 'hop-reflect', 'reflect'),
  stated('deploy', 'deployed', 'reflect'),
  stated('deploy', 'blocked', 'reflect'),
  stated('deploy', 'hop-reflect', 'reflect'),
  stated('deploy', 'hop-discipline', 'discipline'),
  stated('discipline', 'hop-explore', 'explore'),
  stated('discipline', 'hop-edit', 'edit'),
  stated('discipline', 'hop-reflect', 'reflect'),
  stated('edit', 'hop-discipline', 'discipline'),
  stated('explore', 'hop-discipline', 'discipline'),
  stated('test', 'hop-discipline', 'discipline'),
  stated('edit', 'tests-pass', 'test'),
  stated('edit', 'ready-to-commit', 'test'),
  stated('edit', 'blocked', 'reflect'),
  stated('edit', 'hop-test', 'test'),
  stated('edit', 'hop-reflect', 'reflect'),
  stated('explore', 'found-target', 'edit'),
  stated('explore', 'ready-to-edit', 'edit'),
  stated('explore', 'hop-edit', 'edit'),
  stated('explore', 'hop-reflect', 'reflect'),
  stated('reflect', 'par-generated', 'explore'),
  stated('reflect', 'hop-explore', 'explore'),
  stated('reflect', 'hop-chat', 'chat'),
  implied('pass', 'deploy', null),
  implied('fail', 'edit', 'flaky'),
  implied('flaky', 'edit', 'pass'),
  stated('test', 'hop-edit', 'edit'),
  stated('test', 'hop-reflect', 'reflect'),
];

const pass = { result: 'pass' };
const ENTRIES: readonly Row[] = [
  { name: 'chat default', holds: [first(), start('chat')], fails: [outside(), start('chat'), 'entry-not-met'] },
  {
    name: 'chat from-any',
    holds: [inside('reflect'), hop('chat', 'hop-chat')],
    fails: [outside(), start('chat'), 'entry-not-met'],
  },
  {
    name: 'chat user-request',
    holds: [outside(), start('chat', 'operator')],
    fails: [outside(), start('chat'), 'entry-not-met'],
  },
  {
    name: 'deploy from-test',
    holds: [inside('test', pass), hop('deploy', 'pass')],
    fails: [outside(), start('deploy', 'operator'), 'entry-not-met'],
  },
  {
    name: 'deploy tests-passed',
    holds: [inside('test', pass), hop('deploy', 'pass')],
    fails: [
      inside('test', pass, { tests: { passed: false, count: 1, failed: 0 } }),
      hop('deploy', 'pass'),
      'condition-failed',
    ],
  },
  {
    name: 'discipline from-explore',
    holds: [inside('explore'), hop('discipline', 'hop-discipline')],
    fails: [outside(), start('discipline'), 'entry-not-met'],
  },
  {
    name: 'discipline from-edit',
    holds: [inside('edit'), hop('discipline', 'hop-discipline')],
    fails: [outside(), start('discipline'), 'entry-not-met'],
  },
  {
    name: 'discipline from-test',
    holds: [inside('test'), hop('discipline', 'hop-discipline')],
    fails: [outside(), start('discipline'), 'entry-not-met'],
  },
  {
    name: 'discipline from-deploy',
    holds: [inside('deploy'), hop('discipline', 'hop-discipline')],
    fails: [outside(), start('discipline'), 'entry-not-met'],
  },
  {
    name: 'discipline user-request',
    holds: [outside(), start('discipline', 'operator')],
    fails: [outside(), start('discipline'), 'entry-not-met'],
  },
  {
    name: 'edit from-discipline',
    holds: [inside('discipline'), hop('edit', 'hop-edit')],
    fails: [outside(), start('edit'), 'entry-not-met'],
  },
  {
    name: 'explore from-discipline',
    holds: [inside('discipline'), hop('explore', 'hop-explore')],
    fails: [outside(), start('explore'), 'entry-not-met'],
  },
  {
    name: 'edit from-explore',
    holds: [inside('explore'), hop('edit', 'hop-edit')],
    fails: [inside('chat'), hop('edit', 'hop-edit'), 'entry-not-met'],
  },
  {
    name: 'edit from-test',
    holds: [inside('test'), hop('edit', 'hop-edit')],
    fails: [outside(), start('edit'), 'entry-not-met'],
  },
  {
    name: 'edit user-request',
    holds: [inside('chat'), hop('edit', 'hop-edit', 'operator')],
    fails: [inside('chat'), hop('edit', 'hop-edit'), 'entry-not-met'],
  },
  {
    name: 'explore default',
    holds: [first(), start('explore')],
    fails: [outside(), start('explore'), 'entry-not-met'],
  },
  {
    name: 'explore from-reflect',
    holds: [inside('reflect'), hop('explore', 'hop-explore')],
    fails: [outside(), start('explore'), 'entry-not-met'],
  },
  {
    name: 'explore from-chat',
    holds: [inside('chat'), hop('explore', 'hop-explore')],
    fails: [outside(), start('explore', 'operator'), 'entry-not-met'],
  },
  {
    name: 'reflect from-any',
    holds: [inside('edit', {}, { naturalClose: false }), hop('reflect', 'blocked', 'operator')],
    fails: [first(), start('reflect'), 'entry-not-met'],
  },
  {
    name: 'reflect session-close',
    holds: [outside(), start('reflect')],
    fails: [first(), start('reflect'), 'entry-not-met'],
  },
  {
    name: 'reflect user-request',
    holds: [first(), start('reflect', 'operator')],
    fails: [first(), start('reflect'), 'entry-not-met'],
  },
  {
    name: 'reflect agent-request',
    holds: [inside('edit'), hop('reflect', 'blocked')],
    fails: [inside('edit', {}, { naturalClose: false }), hop('reflect', 'blocked'), 'entry-not-met'],
  },
  {
    name: 'test from-edit',
    holds: [inside('edit'), hop('test', 'hop-test')],
    fails: [outside(), start('test'), 'entry-not-met'],
  },
  {
    name: 'test user-request',
    holds: [outside(), start('test', 'operator')],
    fails: [outside(), start('test'), 'entry-not-met'],
  },
];

describe('an exit is open or closed as the table says', () => {
  it.each(EXITS)('in the row: $name', ({ holds, fails }) => {
    expect(answer(contextOf(holds[0]), holds[1])).toBe('ok');
    expect(answer(contextOf(fails[0]), fails[1])).toBe(fails[2]);
  });
});

describe('an entry admits or refuses as the table says', () => {
  it.each(ENTRIES)('in the row: $name', ({ holds, fails }) => {
    expect(answer(contextOf(holds[0]), holds[1])).toBe('ok');
    expect(answer(contextOf(fails[0]), fails[1])).toBe(fails[2]);
  });
});

const exitsOf = ({ peripherals }: SpecSet) =>
  Object.values(peripherals).flatMap(({ id, exits }) => exits.map(({ name }) => `${id} ${name}`));
const entriesOf = ({ peripherals }: SpecSet) =>
  Object.values(peripherals).flatMap(({ id, entry }) =>
    [...entry.sources.map(formatEntrySource), ...entry.conditions].map((name) => `${id} ${name}`),
  );

it('the two tables have a row for every exit and entry of the fixture specs, and no others', () => {
  expect(EXITS.map(({ name }) => name).toSorted()).toEqual(exitsOf(fixtureSpecs).toSorted());
  expect(ENTRIES.map(({ name }) => name).toSorted()).toEqual(entriesOf(fixtureSpecs).toSorted());
});

describe('docs/exits-and-entries.md', async () => {
  const builtIn = await loadSpecs('default');
  const text = readFileSync('docs/exits-and-entries.md', 'utf8');
  /** The first two cells of each row of the table under a heading. */
  const rowsUnder = (heading: string) => {
    const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
    return [...section.matchAll(/^\| `([^`]+)` \| `([^`]+)` \| (.*) \|$/gm)].map(([, peripheral, name, rest]) => ({
      name: `${peripheral} ${name}`,
      rest: rest ?? '',
    }));
  };
  it('lists every exit with its destinations', () => {
    const rows = rowsUnder('Exits');
    expect(rows.map(({ name }) => name).toSorted()).toEqual(exitsOf(builtIn).toSorted());
    for (const { name, rest } of rows) {
      const [peripheral, exit] = name.split(' ');
      const { opens = [], implies = null } =
        builtIn.peripherals[peripheral ?? '']?.exits.find((one) => one.name === exit) ?? {};
      const [targets, holds] = rest.split(' | ');
      expect(targets).toBe(opens.map(({ to }) => to).join(', '));
      expect(holds).toContain(
        implies ? `\`${implies.field}\` is ${implies.value}` : exit === 'user-request' ? 'the operator' : 'a reason',
      );
    }
  });
  it('lists every entry', () => {
    const rows = rowsUnder('Entries');
    expect(rows.map(({ name }) => name).toSorted()).toEqual(entriesOf(builtIn).toSorted());
    for (const { name, rest } of rows) {
      const [, from] = /^\S+ from-(.+)$/.exec(name) ?? [];
      expect(rest).toContain(from === undefined ? '' : from === 'any' ? 'from wherever' : `from ${from}`);
      expect(rest).not.toBe('');
    }
  });
});
