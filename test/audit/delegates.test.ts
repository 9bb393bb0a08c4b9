import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findExtraPermissions } from '../../src/audit/delegation/extra-permissions.ts';
import { proveAndFindWarnings } from '../../src/audit/properties/prove-properties.ts';
import { isWritablePath } from '../../src/audit/rules/audited-path.ts';
import { splitWords } from '../../src/base/text.ts';
import { makeSubAgentPin } from '../../src/gate/delegation/sub-agent-pin.ts';
import { writePathReason } from '../../src/gate/scope/write-paths.ts';
import { loadBuiltInCatalogue } from '../../src/spec/load/load-specs.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { PeripheralSpec, ProjectConfig, ScopeRule, SpecSet } from '../../src/spec/types.ts';
import { depth } from '../depth.ts';
import '../seed.ts';

const peripheral = (id: string, more: string) => ({
  file: `peripherals/${id}.yaml`,
  text: `id: ${id}\npurpose: x\n${more}`,
});

const catalogue = await loadBuiltInCatalogue();

function specsOf(delegates: string, properties = '', gates = ''): SpecSet {
  const parsed = parseSpecSet(
    [
      peripheral(
        'lead',
        `tools: [read]\nscope: full-codebase\nentry: default\nexit: { on: look }\n${delegates}\n${gates}`,
      ),
      peripheral('look', 'tools: [read]\nscope: full-codebase\nentry: from-any\nexit: { on: look }'),
      peripheral(
        'work',
        'tools: [read, write, bash]\nscope: { paths: [src/] }\nentry: [from-lead, tests-passed]\nexit: { on: look }',
      ),
      ...(properties === '' ? [] : [{ file: 'properties.yaml', text: `properties:\n${properties}` }]),
    ],
    catalogue,
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.specs;
}

const open = (specs: SpecSet): SpecSet => ({
  ...specs,
  peripherals: Object.fromEntries(
    Object.entries(specs.peripherals).map(([id, spec]) => [id, { ...spec, entry: { ...spec.entry, conditions: [] } }]),
  ),
});

describe('the proofs about delegates', () => {
  const broken = (specs: SpecSet) =>
    proveAndFindWarnings(specs).proofs.flatMap(({ holds, property, message }) =>
      holds || ['bound', 'way-back'].includes(property) ? [] : [message],
    );

  it('count a start of a sub-agent as entering its peripheral', () => {
    const properties = '  - never: { hop: work, without: [approval] }\n  - before: { first: look, then: work }\n';
    const delegates = 'delegates: [{ to: work, within: own }]';
    expect(broken(open(specsOf(delegates, properties)))).toEqual([
      'work can be entered without an approval',
      'work can be reached without look before',
    ]);
    const approved = specsOf(delegates, properties, 'gates: { work: [{ approval: operator }] }');
    expect(broken(open(approved))).toEqual(['work can be reached without look before']);
  });

  it('count the changes of a sub-agent with its own limits as its parent’s, and no others', () => {
    const property = '  - never: { change: lead }\n';
    expect(broken(open(specsOf('delegates: [{ to: work, within: own }]', property)))).toEqual([
      'lead can change: it starts sub-agents in work, within their own limits',
    ]);
    expect(broken(open(specsOf('delegates: [work]', property)))).toEqual([]);
  });

  it('warn of a delegate in which no sub-agent can ever start', () => {
    const { notes } = proveAndFindWarnings(specsOf('delegates: [{ to: work, within: own }]'));
    expect(notes.filter(({ code }) => code === 'useless-delegate')).toMatchObject([
      {
        path: 'peripherals.lead.delegates',
        message: 'no sub-agent can ever start in work: the condition "tests-passed" cannot hold',
      },
    ]);
  });
});

describe('a sub-agent within its parent’s peripheral', () => {
  const pattern = fc.constantFrom(
    ...splitWords(`
      . src/ src/a/ src/a/b.js docs/ *.md **/*.md src/**/*.js src/*/ src/a/*.js !dist/ !*.lock !src/a/ !**/*.md
    `),
  );
  const rule: fc.Arbitrary<Omit<Required<ScopeRule>, 'agency'>> = fc.record({
    read: fc.constantFrom('root', 'session-log', 'none'),
    write: fc.uniqueArray(pattern, { maxLength: 4 }),
    command: fc.constantFrom('none', 'read-only', 'contained', 'test', 'deploy'),
    url: fc.constantFrom('none', 'allow-list'),
    resource: fc.uniqueArray(fc.constantFrom('db:a/*', 'db:b', '**', '!db:a/c'), { maxLength: 3 }),
  });
  const limits = fc.record({ steps: fc.constantFrom(null, 3, 9), minutes: fc.constantFrom(null, 1, 5) });
  const place = fc.record({
    rule,
    limits,
    tools: fc.subarray(['read', 'grep', 'write', 'bash']),
    paths: fc.option(fc.uniqueArray(pattern, { minLength: 1, maxLength: 3 })),
  });
  const paths = ['a.md', 'src/x.js', 'src/a/b.js', 'src/a/c/d.js', 'src/a/y.md', 'docs/z.md', 'dist/a.js', 'a.lock'];
  const base = specsOf('');
  const plain = DEFAULT_PROJECT_CONFIG;

  it('has no agencies that its parent lacks, as the audit judges it', () => {
    const outer = { ...base.peripherals['look']!, agencies: [{ to: 'ask', within: 'parent' as const }] };
    const excess = (to: string) => {
      const inner = { ...outer, agencies: [{ to, within: 'parent' as const }] };
      return findExtraPermissions([inner, { specs: base, config: plain }], [outer, { specs: base, config: plain }]);
    };
    expect([excess('ask'), excess('other')]).toEqual([[], ['agency: other']]);
  });

  it('has at most the limits of both peripherals, as gate and audit judge it', () => {
    fc.assert(
      fc.property(place, place, (above, below) => {
        const make = (id: string, { rule, limits, tools }: typeof above): PeripheralSpec => ({
          ...base.peripherals['look']!,
          id,
          tools,
          limits,
          scope: { name: id, rule },
        });
        const [here, there] = [make('here', above), make('there', below)];
        const specs = { ...base, peripherals: { here, there } };
        const scopes = Object.fromEntries(
          Object.entries({ here: above.paths, there: below.paths }).filter(([, list]) => list !== null),
        );
        const config = { ...plain, scopes } as ProjectConfig;
        const parent = { specs, config, mode: null, peripheral: 'here' };
        const pin = makeSubAgentPin(parent, { to: 'there', within: 'parent' });
        const only = pin.specs.peripherals['there']!;
        for (const outer of [here, there])
          expect(findExtraPermissions([only, pin], [outer, { specs, config }])).toEqual([]);
        const write = only.scope.rule.write;
        for (const outer of [here, there]) {
          const may = outer.scope.rule.write.length > 0 ? (config.scopes[outer.id] ?? outer.scope.rule.write) : [];
          for (const path of paths) {
            if (writePathReason(path, write) === null) expect([path, writePathReason(path, may)]).toEqual([path, null]);
            if (isWritablePath(path, write)) expect([path, isWritablePath(path, may)]).toEqual([path, true]);
          }
        }
      }),
      { numRuns: depth(60, 300) },
    );
  });

  it('has the paths that both peripherals grant if one pattern contains the other', () => {
    const make = (id: string, write: readonly string[]) => ({
      ...base.peripherals['work']!,
      id,
      scope: { name: id, rule: { ...base.peripherals['work']!.scope.rule, write } },
    });
    const specs = {
      ...base,
      peripherals: {
        here: make('here', ['src/', 'docs/*.md', '!src/gen/']),
        there: make('there', ['src/a/', 'docs/']),
      },
    };
    const parent = { specs, config: plain, mode: null, peripheral: 'here' };
    const { write } = makeSubAgentPin(parent, { to: 'there', within: 'parent' }).specs.peripherals['there']!.scope.rule;
    expect([...write].sort()).toEqual(['!src/gen/', 'docs/*.md', 'src/a/']);
  });
});
