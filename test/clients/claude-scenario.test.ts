import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type Fixture, makeFixture } from '../../src/cli/run/fixture.ts';
import { loadScenario } from '../../src/spec/load-scenario.ts';
import type { ScenarioAction, ScenarioStep } from '../../src/spec/scenario-file.ts';
import { CLAUDE_BIN, call, ClaudeWorld, own } from './claude-world.ts';
import type { Step } from './messages-server.ts';

const scenario = await loadScenario('specs/scenarios/fix-a-bug.yaml');
/** The session is in explore already when the client starts, and only the operator stops and closes. */
const steps = scenario.steps.filter(({ action }) => !['start', 'stop', 'close'].includes(action.verb));

let fixture: Fixture;
let world: ClaudeWorld;
beforeEach(() => {
  fixture = makeFixture('bug-in-median');
  world = new ClaudeWorld(fixture.root);
  const { scopes, test, git, toolchains } = fixture.config;
  writeFileSync(join(fixture.root, 'hopgate.yaml'), stringify({ scopes, test, git, toolchains }));
});
afterEach(async () => {
  await world.close();
  rmSync(dirname(fixture.root), { recursive: true, force: true });
});

const words = (args: unknown): string =>
  (Array.isArray(args) ? args : []).map((word) => (/^[\w./-]+$/.test(word) ? word : `'${word}'`)).join(' ');

/** A step of the scenario as Claude Code's model would make it: with the client's own tools where it has them. */
function asClaude({ action }: ScenarioStep): Step {
  if (action.verb === 'hop') return call(own('hop'), { ...action });
  if (action.verb === 'mode') {
    const { to, reason, summary, exitCriteria } = action;
    return call(own('mode'), { to, reason, summary, 'exit-criteria': exitCriteria });
  }
  return action.verb === 'step' ? asTool(action) : { text: '' };
}

function asTool({ tool, args }: Extract<ScenarioAction, { verb: 'step' }>): Step {
  const named: { readonly [name: string]: unknown } = Array.isArray(args) ? { path: args[0] } : { ...args };
  const file_path = join(fixture.root, String(named['path'] ?? ''));
  const bash = (command: unknown) => call('Bash', { command, description: tool });
  switch (tool) {
    case 'read':
      return call('Read', { file_path });
    case 'write':
      return call('Write', { file_path, content: named['content'] });
    case 'edit':
      return call('Edit', { file_path, old_string: named['old'], new_string: named['new'] });
    // While nothing may be looked at, the client does not even offer hopgate's own grep.
    case 'grep':
      return bash(`grep -rn ${named['pattern']} ${named['path']}`);
    case 'bash':
    case 'bash-readonly':
      return bash(named['command']);
    case 'bash-test':
      return bash('node --test --test-reporter=tap');
    case 'bash-git':
      return bash(`git ${named['sub']} ${words(named['args'])}`);
    default:
      return call(own(tool), named);
  }
}

describe.skipIf(!CLAUDE_BIN)(`Claude Code plays "${scenario.title}"`, () => {
  it('to its end: what is refused there is refused here, the fix is pushed, and the evidence holds', async () => {
    expect((await world.hopgate('trust', '--yes')).code).toBe(0);
    const run = await world.run([...steps.map(asClaude), { text: 'done' }, { text: 'done' }], {
      own: ['--approve', 'execute,deploy'],
    });
    const refused = (await world.evidence(run.session)).filter((event) => event.startsWith('denial'));
    const expected = steps.flatMap(({ expect }) => (expect && 'denied' in expect ? [`denial ${expect.denied}`] : []));
    const seen = run.results.map(({ name, failed, text }) => `${name} ${failed}: ${text.slice(0, 200)}`).join('\n');
    expect(refused, seen).toEqual(expected);
    expect(run.requests.every(({ overrun }) => !overrun)).toBe(true);
    const pushed = execFileSync('git', ['-C', fixture.remote, 'log', '--oneline', '-1'], { encoding: 'utf8' });
    expect(pushed, seen).toContain('Sort numbers as numbers');
    expect(world.git('status', '--porcelain', 'package.json', '.git/hooks')).toBe('');
    const verified = await world.hopgate('verify', run.session);
    expect(verified.code, verified.stdout).toBe(0);
    const lived = await world.hopgate('verify', run.session, '--inhabited');
    expect(lived.code, lived.stdout).toBe(0);
    expect(run.stderr).toContain('the session is in reflect, mode discuss');
  });
});
