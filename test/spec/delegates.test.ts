import { describe, expect, it } from 'vitest';
import { lintSpecs } from '../../src/spec/check/lint-specs.ts';
import { loadBuiltInCatalogue } from '../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';

const peripheral = (id: string, tools: string, entry: string, more = '') => ({
  file: `peripherals/${id}.yaml`,
  text: `id: ${id}\npurpose: x\ntools: [${tools}]\nscope: ${id === 'ship' ? 'git-push-only' : 'full-codebase'}\nentry: [${entry}]\nexit: { on: [lead, work, look, ship, apart] }\n${more}`,
});

const parse = async (delegates: string) =>
  parseSpecSet(
    [
      peripheral('lead', 'read', 'default, from-any', `delegates: ${delegates}`),
      peripheral('work', 'read, grep, glob', 'from-lead'),
      peripheral('look', 'read', 'from-any'),
      peripheral('ship', 'read', 'from-lead'),
      peripheral('apart', 'read', 'from-work'),
    ],
    await loadBuiltInCatalogue(),
  );

describe('delegates of a peripheral', () => {
  it('are limited by the parent if `within` is omitted', async () => {
    const parsed = await parse('[look, { to: work, within: own }]');
    expect(parsed.ok && parsed.specs.peripherals['lead']?.delegates).toEqual([
      { to: 'look', within: 'parent' },
      { to: 'work', within: 'own' },
    ]);
  });

  it('must be existing peripherals, each listed once', async () => {
    const parsed = await parse('[lok, look, { to: look }, { to: work, within: child }]');
    expect(
      parsed.ok ? [] : parsed.problems.map(({ path, message, suggestion }) => [path, message, suggestion]),
    ).toEqual([
      ['peripherals.lead.delegates.3.within', 'unknown value "child"', 'known: own, parent'],
      ['peripherals.lead.delegates.0', 'unknown peripheral "lok"', 'did you mean "look"?'],
      ['peripherals.lead.delegates.2', '"look" is listed twice', 'keep one of them'],
    ]);
  });

  it('cause a warning if no sub-agent can start there, if it can ship nothing, or if it loses tools', async () => {
    const parsed = await parse('[look, work, apart, ship, { to: lead, within: own }]');
    if (!parsed.ok) throw new Error('the specs are wrong');
    const found = lintSpecs(parsed.specs).filter(({ code }) => code === 'useless-delegate');
    expect(found.map(({ path, message }) => [path, message])).toEqual([
      ['peripherals.lead.delegates.1', 'a sub-agent in work has no grep, glob: lead does not have them'],
      ['peripherals.lead.delegates.2', 'no sub-agent can start in apart: it does not admit lead'],
      [
        'peripherals.lead.delegates.3',
        'a sub-agent in ship cannot push or deploy: approvals are bound to the session that hops to ship',
      ],
    ]);
    expect(found[0]?.suggestion).toBe(
      'write { to: work, within: own } to give it all that work has, or add the tools to lead',
    );
  });
});
