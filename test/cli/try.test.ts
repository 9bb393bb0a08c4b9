import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { playDemo } from '../../src/cli/commands/try.ts';
import type { Io } from '../../src/cli/io.ts';
import { withoutShellSteps } from '../../src/cli/run/without-shell-steps.ts';
import { loadScenario } from '../../src/spec/load/load-scenario.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { readLiveViewScript } from '../../src/view/page-script.ts';
import { machine, sink } from './run.ts';

it('the demo plays its steps without a sandbox, says so once, writes a recording, and names the next command', async () => {
  const [out, err]: [string[], string[]] = [[], []];
  const { env, root: cwd } = machine();
  const streams = { stdout: sink(out), stderr: sink(err), stdin: Readable.from([]) };
  const io: Io = { ...streams, isTty: false, env, cwd, color: false, json: false, exitCode: 0 };
  const reason = 'bubblewrap is not installed';
  await playDemo(io, {}, async () => ({ ok: false, reason, remedy: 'install it (`apk add bubblewrap`)' }));
  const [, root = ''] = /^ {2}repository {2}(.+)$/m.exec(out.join('')) ?? [];
  onTestFinished(() => rmSync(dirname(root), { recursive: true, force: true }));
  expect(err.join('')).toBe(
    'hopgate: bubblewrap is not installed: install it (`apk add bubblewrap`). The demo plays the steps that need no shell.\n',
  );
  expect(io.exitCode).toBe(0);
  expect(out.join('')).toMatch(/^As the scenario says: 18 steps, 8 refused\.$/m);
  expect(out.join('')).toMatch(/hopgate init\n$/);
  expect(out.join('')).not.toContain('sandbox-unavailable');
  if (readLiveViewScript() !== null) expect(statSync(join(dirname(root), 'demo.html')).size).toBeGreaterThan(10_000);
});

it('a machine without a sandbox plays all steps of a scenario that needs no shell', async () => {
  const specs = await loadSpecs('default');
  const scenario = await loadScenario('specs/scenarios/fix-a-bug.yaml');
  const part = withoutShellSteps(scenario, specs);
  expect(part.steps.map(({ action }) => action.verb).slice(-2)).toEqual(['stop', 'close']);
  expect(withoutShellSteps(part, specs)).toEqual(part);
});
