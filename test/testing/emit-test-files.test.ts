import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { emitTestFiles } from '../../src/testing/emit-test-files.ts';
import { generateTests } from '../../src/testing/generate-tests.ts';
import { depth, isDeep } from '../depth.ts';
import { FIXTURE_SPECS, fixtureSpecs } from '../fixture-specs.ts';

const vitest = resolve('node_modules/vitest/vitest.mjs');

interface Run {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[];
  }[];
}

/** Runs the emitted files of a folder, with `hopgate/testing` as this repository has it. */
function runEmitted(folder: string): Run {
  const config = `export default { resolve: { alias: { 'hopgate/testing': ${JSON.stringify(resolve('src/testing/index.ts'))}, vitest: ${JSON.stringify(resolve('node_modules/vitest'))} } } };`;
  writeFileSync(join(folder, 'vitest.config.js'), config);
  const out = join(folder, 'results.json');
  try {
    execFileSync(
      process.execPath,
      [vitest, 'run', '--root', folder, '--no-isolate', '--maxWorkers=1', '--reporter=json', `--outputFile=${out}`],
      {
        stdio: 'pipe',
        env: { ...process.env, NODE_OPTIONS: '' },
      },
    );
  } catch {} // what failed is in the results
  return JSON.parse(readFileSync(out, 'utf8'));
}

it('an emitted test file has each move once as data, and each path as names of moves', async () => {
  const { tests } = await generateTests(fixtureSpecs, { crashes: false });
  const cases = tests.map(({ planned }) => planned);
  expect(JSON.parse(JSON.stringify(cases))).toEqual(cases);
  const text = emitTestFiles(cases, 'specs')['round-trips.test.js']!;
  expect(text).toContain('  "pass.deploy": {"asked":{"kind":"hop","to":"deploy","exit":"pass",');
  expect(text).toMatch(
    /it\("reframe: start edit .*─fail→ edit .*\n {2}path: \[.*"start\.edit \(operator\)", .*"run\.fail"/,
  );
});

it('an emitted test has two minutes, as a test of describeSpec', async () => {
  const file = emitTestFiles([{ group: 'modes', name: 'only', moves: [] }], 'specs')['modes.test.js'];
  expect(file).toContain("import { it, vi } from 'vitest';\n\nvi.setConfig({ testTimeout: 120000 });");
});

it.runIf(isDeep)('the emitted files run unchanged, and fail after the specs have changed', async () => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'hopgate-emitted-'));
  try {
    const specs = join(folder, 'specs');
    cpSync(FIXTURE_SPECS, specs, { recursive: true });
    const { tests } = await generateTests(specs);
    mkdirSync(join(folder, 'generated'));
    const some = ['modes', 'hops'].flatMap((name) =>
      tests.filter(({ group }) => group === name).slice(0, depth(4, 1000)),
    );
    for (const [file, text] of Object.entries(
      emitTestFiles(
        some.map(({ planned }) => planned),
        '../specs',
      ),
    ))
      writeFileSync(join(folder, 'generated', file), text);
    expect(runEmitted(folder)).toMatchObject({ numPassedTests: some.length, numFailedTests: 0 });

    rmSync(join(specs, 'peripherals/chat.yaml'));
    for (const id of ['explore', 'edit', 'reflect', 'test', 'deploy', 'discipline']) forgetChat(specs, id);
    const moved = runEmitted(folder);
    expect(moved.numFailedTests).toBeGreaterThan(0);
    const messages = moved.testResults.flatMap(({ assertionResults }) =>
      assertionResults.flatMap(({ failureMessages }) => failureMessages),
    );
    expect(messages.some((message) => message.includes('write the tests again'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Takes the hops to chat out of a peripheral. */
function forgetChat(specs: string, id: string): void {
  const file = join(specs, 'peripherals', `${id}.yaml`);
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replace('[explore, chat]', '[explore]').replace('  hop-chat: chat\n', '').replace(', from-chat', ''),
  );
}
