import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SpecError, type SpecProblem } from '../../src/spec/check/spec-problem.ts';
import { loadBuiltInCatalogue, loadSpecs } from '../../src/spec/load/load-specs.ts';
import { parseScenario } from '../../src/spec/resolve/parse-scenario.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import { depth } from '../depth.ts';

const catalogue = await loadBuiltInCatalogue();
const builtIn = [
  ...['gate', 'tools', 'scopes'].map((name) => `specs/${name}.yaml`),
  ...readdirSync('specs/peripherals').map((name) => `specs/peripherals/${name}`),
].map((file) => ({ file, text: readFileSync(file, 'utf8') }));

it('a damaged file loads, or every problem has a file and a message', () => {
  const damage = fc.record({
    which: fc.nat(builtIn.length - 1),
    at: fc.nat(),
    length: fc.nat(12),
    instead: fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.constantFrom('[', '{', ': ', '\n', '- ', '&a ', '*a', '!!x ', '__proto__', '"', '1e999'),
    ),
  });
  fc.assert(
    fc.property(damage, ({ which, at, length, instead }) => {
      const sources = builtIn.map((source, index) => {
        if (index !== which) return source;
        const from = at % source.text.length;
        return { ...source, text: source.text.slice(0, from) + instead + source.text.slice(from + length) };
      });
      const parsed = parseSpecSet(sources);
      if (parsed.ok) expect(parsed.specs.hash).toHaveLength(64);
      else for (const problem of parsed.problems) expect([problem.file, problem.message]).not.toContain('');
    }),
    { numRuns: depth(15, 80) },
  );
});

it.each([
  [
    'an alias bomb',
    `a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c]`,
  ],
  ['two documents', 'id: a\n---\nid: b\n'],
  ['a tag of another program', 'id: !!js/function a\n'],
  ['a number as the whole content', '7'],
  ['no content', ''],
  ['a list as the whole content', '[a, b]'],
  ['__proto__ as a key', 'id: a\n__proto__: { purpose: x }\n'],
])('a spec file with %s is refused with a problem', (_, text) => {
  const parsed = parseSpecSet([{ file: 'peripherals/a.yaml', text }], catalogue);
  expect(parsed.ok).toBe(false);
});

it('a folder instead of a file is reported as a problem', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-specs-'));
  try {
    mkdirSync(join(folder, 'gate.yaml'));
    mkdirSync(join(folder, 'peripherals'));
    writeFileSync(join(folder, 'peripherals', 'a.yml'), 'id: a');
    writeFileSync(join(folder, 'peripherals', 'b.edn'), '{:id :b}');
    mkdirSync(join(folder, 'peripherals', 'more'));
    mkdirSync(join(folder, 'peripherals', 'notes'));
    writeFileSync(join(folder, 'peripherals', 'more', 'c.yaml'), 'id: c');
    writeFileSync(join(folder, 'peripherals', 'notes', 'c.md'), 'c');
    const error = await loadSpecs(folder).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SpecError);
    expect((error as SpecError).issues.map(({ message }) => message)).toEqual([
      'ends in .yml',
      'ends in .edn',
      'is a folder, so nothing in it is read',
      expect.stringContaining('cannot be read'),
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it.each([
  ['of 300 lists, which the parser reads', 300],
  ['of 5,000 lists, which overflow its stack', 5000],
])('a spec file with a nesting %s is reported in words', (_, levels) => {
  const text = `title: x\nsteps: ${'['.repeat(levels)}${']'.repeat(levels)}\n`;
  const { problems } = parseScenario({ file: 's.yaml', text }) as { readonly problems: readonly SpecProblem[] };
  expect(problems.map(({ message }) => message)).toEqual(['nested deeper than 200 levels']);
});

it('an alias inside of its own anchor causes no endless loop', () => {
  const parsed = parseScenario({ file: 's.yaml', text: 'title: x\nsteps: &a [*a, *a, *a]\n' });
  expect(parsed.ok).toBe(false);
});

it('a YAML file with a syntax error is reported with its first error only', () => {
  const text =
    'title: x\nsteps:\n  - mode: { to: diagnose, reason: the median of [1, 2] }\n  - start: explore\n  - step: { tool: read }\n';
  const parsed = parseScenario({ file: 's.yaml', text });
  expect(parsed).toMatchObject({ ok: false, problems: [{ file: 's.yaml', line: 3 }] });
});
