import { describe, expect, it } from 'vitest';
import { loadBuiltInCatalogue, loadSpecs } from '../../src/spec/load/load-specs.ts';
import type { SpecSource } from '../../src/spec/load/source-document.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import { warnOfUnservedTools, warnOfUnusableTools } from '../../src/tools/lint-tools.ts';

const catalogue = await loadBuiltInCatalogue();

function parsed(...sources: SpecSource[]): SpecSet {
  const result = parseSpecSet(sources, catalogue);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.specs;
}

const place = (tools: string, scope: string): SpecSource => ({
  file: 'peripherals/here.yaml',
  text: `id: here\npurpose: x\ntools: [${tools}]\nscope: ${scope}\nentry: default\nexit: {}\n`,
});

const TRACKER: SpecSource = {
  file: 'tools.yaml',
  text: `tools:
  issue-read:
    purpose: Reads an issue.
    effect: observe
    upstream: { server: tracker, tool: get }
    parameters: []
    limits: { seconds: 1, output-bytes: 1000 }
  price:
    purpose: Says what it costs.
    effect: observe
    parameters: []
    limits: { seconds: 1, output-bytes: 1000 }
`,
};

it('the built-in specs have no warnings about tools', async () => {
  expect(warnOfUnusableTools(await loadSpecs('default'))).toEqual([]);
});

describe('a tool in a scope that it cannot work in', () => {
  it.each([
    ['write', 'full-codebase', 'never-in-scope', 'writes nothing'],
    ['read', 'conversation', 'never-in-scope', 'reads no files'],
    ['glob', 'git-push-only', 'never-in-scope', 'reads no files'],
    ['bash', 'conversation', 'never-in-scope', 'runs no commands'],
    ['bash-test', 'conversation', 'never-in-scope', 'is not one that runs tests'],
    ['web-fetch', '{ paths: [src/] }', 'never-in-scope', 'the scope { paths } fetches nothing'],
    ['web-fetch', '{ resource: [db/*] }', 'never-in-scope', 'the scope { resource } fetches nothing'],
    ['web-fetch', '{ resource: [db/*], paths: [src/] }', 'never-in-scope', 'the scope { paths, resource } fetches'],
    ['bash-deploy', '{ paths: [src/] }', 'never-in-scope', 'is not one that ships'],
    ['bash', 'test-commands-only', 'never-in-scope', 'lets commands write'],
    ['bash-readonly', 'git-push-only', 'never-in-scope', 'runs commands'],
    ['bash-test', '{ paths: [src/] }', 'beside-its-scope', 'its verdict is not recorded'],
    ['bash-git', 'full-codebase', 'beside-its-scope', 'git is read-only'],
    ['bash', 'full-codebase', 'beside-its-scope', 'are dropped'],
  ])('causes a warning: %s under %s: %s', (tool, scope, code, words) => {
    const [finding, ...more] = warnOfUnusableTools(parsed(place(tool, scope)));
    expect(more).toEqual([]);
    expect(finding).toMatchObject({ code, path: 'peripherals.here.tools.0' });
    expect(finding!.message).toContain(words);
    expect(finding!.message).toContain(tool);
    expect(finding!.suggestion).not.toBeNull();
  });

  it.each([
    ['bash-test', 'test-commands-only'],
    ['bash-git, bash-deploy', 'git-push-only'],
    ['read, edit, write, glob, grep, bash, bash-readonly', '{ paths: [src/] }'],
    ['read, musn-log', 'session-log-only'],
    ['psr-search, psr-select, par-punctuate', 'conversation'],
  ])('causes no warning: %s under %s', (tools, scope) =>
    expect(warnOfUnusableTools(parsed(place(tools, scope)))).toEqual([]),
  );

  it('is found by its roles alone if it is a tool of an upstream server', () => {
    const text = TRACKER.text.replace('issue-read', 'bash-test');
    expect(warnOfUnusableTools(parsed({ file: 'tools.yaml', text }, place('bash-test', 'conversation')))).toEqual([]);
  });
});

it('a tool whose effect no mode allows causes a warning', () => {
  const gate = `initial: discuss
modes: { discuss: { effects: [coordinate] }, diagnose: { effects: [observe] }, execute: { effects: [observe] } }
transitions: [{ from: discuss, to: diagnose }]
reset: discuss
`;
  const found = warnOfUnusableTools(
    parsed({ file: 'gate.yaml', text: gate }, place('read, write', '{ paths: [src/] }')),
  );
  expect(found).toMatchObject([{ code: 'never-in-mode', path: 'peripherals.here.tools.1' }]);
});

describe('a tool that no backend runs', () => {
  const specs = parsed(TRACKER, place('read, price, issue-read', 'full-codebase'));
  const served = new Set(['read']);

  it('causes a warning, also if hopgate.yaml does not name its server', () => {
    expect(
      warnOfUnservedTools(specs, { served, upstream: { trakker: { url: 'http://x', headers: {}, contained: false } } }),
    ).toEqual([
      {
        code: 'unknown-upstream',
        path: 'tools.issue-read.upstream.server',
        message:
          'hopgate.yaml names no upstream "tracker"; here grants it, and no agent is shown it: every call is refused (unknown-tool)',
        suggestion: 'add tracker to upstream in hopgate.yaml (did you mean "trakker"?)',
      },
      expect.objectContaining({
        code: 'unserved',
        path: 'tools.price',
        message: expect.stringContaining('here grants it'),
      }),
    ]);
  });

  it('causes no warning if no peripheral grants it, or a user’s backend runs it', () => {
    expect(warnOfUnservedTools(parsed(TRACKER, place('read', 'full-codebase')), { served })).toEqual([]);
    const tracker = { command: ['x'], env: {}, cwd: null, contained: false };
    expect(warnOfUnservedTools(specs, { served: new Set(['read', 'price']), upstream: { tracker } })).toEqual([]);
  });
});
