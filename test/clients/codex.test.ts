import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeFixtureRepository } from '../../src/cli/run/fixture.ts';
import { DENIAL_CODES } from '../../src/gate/denial.ts';
import { loadScenario } from '../../src/spec/load/load-scenario.ts';
import type { ScenarioAction } from '../../src/spec/schema/scenario-file.ts';
import { SERVER } from '../server-name.ts';
import {
  CODEX_BIN,
  type CodexWorld,
  codexWorld,
  type Ended,
  hopgate,
  type WorldOptions,
  writeTree,
} from './codex-world.ts';
import type { ScriptedTurn, ScriptStep } from './responses-server.ts';

const worlds: CodexWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

/** A repository, a script, and `hopgate codex exec` played by the real program. */
async function play(
  scripts: WorldOptions['scripts'],
  {
    before = [],
    args = [],
    env = {},
    files = {},
    whileRunning,
    ...options
  }: Partial<WorldOptions> & {
    /** hopgate's own options. */
    readonly before?: readonly string[];
    readonly args?: readonly string[];
    readonly env?: { readonly [name: string]: string };
    readonly files?: { readonly [path: string]: string };
    /** Takes the place of the hook program once Codex has been started with it. */
    readonly whileRunning?: string;
  } = {},
) {
  const main = [...(scripts['main'] ?? [])];
  const [first] = main;
  if (whileRunning !== undefined && first)
    main[0] = (results, messages) => {
      writeFileSync(join(world.env['XDG_STATE_HOME'] ?? '', 'hopgate/bin/hook'), whileRunning);
      return typeof first === 'function' ? first(results, messages) : first;
    };
  const world = await codexWorld({ modelName: 'gpt-5.5', ...options, scripts: { ...scripts, main } });
  worlds.push(world);
  const repo = join(world.folder, 'repo');
  writeTree(repo, { 'README.md': 'read me\n', '.env': 'TOKEN=secret-value\n', 'src/a.js': 'one\n', ...files });
  execFileSync('git', ['init', '-q', '-b', 'main', repo]);
  const ended = await hopgate(world, repo, ['codex', ...before, 'exec', '--json', ...args, 'begin'], env);
  const read = (path: string) => (existsSync(join(repo, path)) ? readFileSync(join(repo, path), 'utf8') : null);
  const resultText = (turn: number) => world.model.requests[turn]?.results.map(({ text }) => text).join('\n') ?? '';
  return { world, repo, ended, read, resultText, requests: world.model.requests };
}

const call = (name: string, input: object = {}): ScriptedTurn => ({
  calls: [{ namespace: `mcp__${SERVER}`, name, input }],
});
const shell = (cmd: string): ScriptedTurn => ({ calls: [{ name: 'exec_command', input: { cmd } }] });
const patch = (...lines: string[]): ScriptedTurn => ({
  calls: [{ name: 'apply_patch', patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') }],
});
const over: ScriptedTurn = { text: 'done' };
const toEdit: readonly ScriptStep[] = [
  call('mode', { to: 'diagnose', reason: 'look' }),
  call('read', { path: 'src/a.js' }),
  call('hop', { to: 'edit', exit: 'ready-to-edit', reason: 'found it' }),
  call('mode', { to: 'execute', reason: 'go', 'exit-criteria': 'it works' }),
];

const sessionIn = ({ stderr }: Ended): string => /session (s-\S+)/.exec(stderr)?.[1] ?? '';
const ours = (tools: readonly string[] = []) =>
  tools.filter((tool) => tool.startsWith(`mcp__${SERVER}.`)).map((tool) => tool.slice(6 + SERVER.length));

describe.skipIf(CODEX_BIN === undefined)('hopgate codex (set CODEX_BIN to the real program to run these)', () => {
  test('does not run a shell command or a patch outside the envelope, and the model reads the remedy', async () => {
    const { ended, resultText, read } = await play({
      main: [
        shell('echo x > made.txt; cat .env'),
        patch('*** Add File: src/made.js', '+x'),
        call('mode', { to: 'diagnose', reason: 'r' }),
        shell('cat .env'),
        patch('*** Delete File: src/a.js'),
        patch('*** Update File: src/a.js', '*** Move to: src/b.js', '@@', '-one', '+two'),
        over,
      ],
    });
    expect(ended).toMatchObject({ code: 0 });
    expect(resultText(1)).toMatch(/mode-forbids[\s\S]*What to do:/);
    expect(resultText(2)).toMatch(/What to do:/);
    expect(resultText(4)).toContain(`mcp__${SERVER}__bash_readonly`);
    for (const turn of [5, 6])
      expect(resultText(turn)).toMatch(/tool-not-allowed[\s\S]*What to do:[\s\S]*__hop\(\{"to":"edit"/);
    expect([read('made.txt'), read('src/made.js'), read('src/b.js')]).toEqual([null, null, null]);
    expect(read('src/a.js')).toBe('one\n');
    expect(JSON.stringify(ended)).not.toContain('secret-value');
  });

  test('runs hopgate’s tools, and each hop changes the permissions of the very next call', async () => {
    const { resultText, read, requests, ended, world, repo } = await play(
      {
        main: [
          ...toEdit,
          call('write', { path: 'src/b.js', content: 'two\n' }),
          patch('*** Update File: src/a.js', '@@', '-one', '+uno'),
          call('write', { path: 'package.json', content: '{}' }),
          call('hop', { to: 'test', exit: 'hop-test', reason: 'done' }),
          call('write', { path: 'src/c.js', content: 'three\n' }),
          patch('*** Update File: src/a.js', '@@', '-uno', '+due'),
          over,
        ],
      },
      { before: ['--approve', 'execute'], modelName: 'scripted' },
    );
    // Codex offers apply_patch only to models that it knows, so this model has only hopgate's tools.
    expect(ours(requests[0]?.tools)).toEqual(['bell', 'hop', 'mode', 'status', 'whistle', 'why']);
    expect(ours(requests[1]?.tools)).toContain('bash_readonly');
    expect(ours(requests[4]?.tools)).toEqual(expect.arrayContaining(['edit', 'write', 'bash']));
    expect(ours(requests[8]?.tools)).not.toContain('write');
    expect(read('src/b.js')).toBe('two\n');
    expect(resultText(7)).toContain('out-of-scope');
    expect(resultText(9)).toMatch(/unsupported call|tool-not-allowed/);
    expect([read('package.json'), read('src/c.js')]).toEqual([null, null]);
    const verified = await hopgate(world, repo, ['verify', sessionIn(ended)]);
    expect(verified).toMatchObject({ code: 0 });
  });

  test('runs refused calls anyway in an observe-only session, but shows no masked file', async () => {
    const { ended, resultText, read, world, repo } = await play(
      {
        main: [
          patch('*** Add File: new.txt', '+x'),
          call('bash', { command: 'echo made > made.txt; cat .env' }),
          call('write', { path: 'third.txt', content: 'z' }),
          over,
        ],
      },
      { before: ['--observe'] },
    );
    expect([read('new.txt'), read('made.txt'), read('third.txt')]).toEqual(['x\n', 'made\n', 'z']);
    expect([resultText(1), resultText(2), resultText(3)].join('\n')).not.toContain('secret-value');
    const verified = await hopgate(world, repo, ['verify', sessionIn(ended)]);
    expect(verified.stdout).toMatch(/^observed .*enforcement would have refused \d calls/);
  });

  test('runs a patch natively where editing is allowed, observes it, and its change invalidates a test pass', async () => {
    const uno = patch('*** Update File: src/a.js', '@@', '-one', '+uno');
    const { ended, resultText, read, world, repo } = await play(
      {
        main: [
          ...toEdit,
          uno,
          over,
          // Resumed, where the sandbox lets Codex write:
          uno,
          patch('*** Add File: src/.codex/config.toml', '+x'),
          patch('*** Add File: README.txt', '+x'),
          over,
        ],
      },
      { before: ['--approve', 'execute', '--follow'] },
    );
    expect(ended.stderr).toContain('resuming with the sandbox workspace-write');
    // Codex's own log names no call that hopgate does not know.
    expect(ended.stderr).not.toContain('WARNING');
    expect(resultText(5)).toContain(`mcp__${SERVER}__edit`);
    expect(resultText(7)).toContain('Success');
    expect([resultText(8), resultText(9)]).toEqual([
      expect.stringContaining('out-of-scope'),
      expect.stringContaining('out-of-scope'),
    ]);
    expect(read('src/a.js')).toBe('uno\n');
    expect([read('src/.codex/config.toml'), read('README.txt')]).toEqual([null, null]);
    const session = sessionIn(ended);
    const log = await hopgate(world, repo, ['log', session, '--json']);
    const bodies = log.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { body: object }).body);
    expect(bodies).toContainEqual(
      expect.objectContaining({
        event: 'outcome',
        tool: 'edit',
        effects: [expect.objectContaining({ path: 'src/a.js', op: 'modify' })],
      }),
    );
    expect(await hopgate(world, repo, ['verify', session])).toMatchObject({ code: 0 });
  });

  test('asks once for the review after a turn that changed a file, and the proposed hop succeeds', async () => {
    let asked: object = {};
    const { ended, resultText, requests, world, repo } = await play(
      {
        main: [
          over,
          // Resumed:
          ...toEdit,
          call('write', { path: 'src/b.js', content: 'two\n' }),
          over,
          (_, messages) => {
            asked = JSON.parse(/ with (\{.*\}), and say there/.exec(messages)?.[1] ?? '{}') as object;
            return call('hop', asked);
          },
          over,
        ],
      },
      { before: ['--approve', 'execute'] },
    );
    expect(ended.code).toBe(0);
    expect(requests).toHaveLength(1); // nothing to review
    const again = [
      'codex',
      '--session',
      sessionIn(ended),
      '--approve',
      'execute',
      'exec',
      '--json',
      'resume',
      '--last',
      'change it',
    ];
    expect(await hopgate(world, repo, again)).toMatchObject({ code: 0 });
    const words = requests.slice(4).map(({ results, messages }) => [...results.map(({ text }) => text), ...messages]);
    expect(asked, JSON.stringify(words, null, 1)).toMatchObject({ to: 'reflect', exit: 'hop-reflect' });
    expect(resultText(8)).toContain('Now: in reflect');
    expect(requests).toHaveLength(9); // not asked again
    expect(await hopgate(world, repo, ['verify', sessionIn(ended)])).toMatchObject({ code: 0 });
  });

  test.each(['scripted', 'gpt-5.5'])('shows the model all of a long answer, in parts (%s)', async (modelName) => {
    const lines = Array.from({ length: 4000 }, (_, index) => `line ${index} of a long file`);
    const next = (results: string) => {
      const part = /; the next: status (\{.*?\})\)/.exec(results.replaceAll('\\"', '"'))?.[1];
      return part === undefined ? over : call('status', JSON.parse(part) as object);
    };
    const { requests, ended, world, repo } = await play(
      {
        main: [
          call('mode', { to: 'diagnose', reason: 'r' }),
          call('read', { path: 'long.txt' }),
          ...Array(8).fill(next),
        ],
      },
      { files: { 'long.txt': `${lines.join('\n')}\n` }, modelName },
    );
    const texts = requests.flatMap(({ results }) => results.map(({ text }) => text)).join('\n');
    expect(texts).not.toContain('truncated');
    const missing = lines.filter((line) => !texts.includes(line));
    expect({ missing: missing.slice(0, 3), more: missing.length }).toEqual({ missing: [], more: 0 });
    expect(requests.length).toBeGreaterThan(5);
    expect(await hopgate(world, repo, ['verify', sessionIn(ended)])).toMatchObject({ code: 0 });
  });

  test('gives a sub-agent its own session in its parent’s envelope, without hops', async () => {
    const { ended, read, requests, world, repo } = await play({
      main: [
        call('mode', { to: 'diagnose', reason: 'look' }),
        { calls: [{ namespace: 'multi_agent_v1', name: 'spawn_agent', input: { message: 'SUB-AGENT look at it' } }] },
        { text: 'waiting', delay: 8000 },
        over,
        over,
      ],
      'SUB-AGENT': [
        shell('echo x > made.txt'),
        call('hop', { to: 'edit', exit: 'hop-edit', reason: 'I want to' }),
        call('read', { path: 'src/a.js' }),
        patch('*** Add File: src/made.js', '+x'),
        over,
        over,
      ],
    });
    expect(ended.code).toBe(0);
    expect(ended.stderr).not.toContain('WARNING');
    const sub = requests.filter(({ thread }) => thread === 'SUB-AGENT');
    const results = sub.flatMap(({ results }) => results.map(({ text }) => text));
    expect(sub[0]?.messages.some((message) => message.includes(`mcp__${SERVER}__read`))).toBe(true);
    expect(results[0]).toContain(`mcp__${SERVER}__bash_readonly`);
    expect(results[1]).toContain('agent that started you');
    expect(results[2]).toContain('one');
    expect(results[3]).toMatch(/tool-not-allowed|mode-forbids/);
    expect([read('made.txt'), read('src/made.js')]).toEqual([null, null]);
    const { stdout } = await hopgate(world, repo, ['sessions', '--json']);
    const sessions = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { agent: string; sessionId: string });
    expect(sessions.map(({ agent }) => agent).sort()).toEqual(['codex', expect.stringMatching(/^codex\/.+/)]);
    for (const { sessionId } of sessions) expect((await hopgate(world, repo, ['verify', sessionId])).code).toBe(0);
  });

  test('controls a model that calls its tools from programs, and its sub-agents', async () => {
    const program = (...lines: string[]): ScriptedTurn => ({
      calls: [
        {
          namespace: 'functions',
          name: 'exec',
          patch: lines.map((line) => `try { text(await ${line}) } catch (error) { text(String(error)) }`).join('\n'),
        },
      ],
    });
    const { resultText, read, ended, requests } = await play(
      {
        main: [
          program(
            `tools.exec_command({ cmd: 'echo x > made.txt' })`,
            `tools.mcp__${SERVER}__mode({ to: 'diagnose', reason: 'look' })`,
          ),
          program(
            `tools.mcp__${SERVER}__read({ path: 'src/a.js' })`,
            `tools.apply_patch('*** Begin Patch\\n*** Add File: src/made.js\\n+x\\n*** End Patch')`,
          ),
          {
            calls: [
              { namespace: 'collaboration', name: 'spawn_agent', input: { task_name: 'look', message: 'look at it' } },
              { namespace: 'collaboration', name: 'wait_agent', input: { timeout_ms: 20_000 } },
            ],
          },
          over,
          over,
        ],
      },
      { modelName: 'gpt-6-sol' },
    );
    expect(ended.code).toBe(0);
    expect(requests.map(({ tools }) => tools)).toContainEqual(expect.arrayContaining(['functions.exec']));
    expect(resultText(1)).toMatch(/mode-forbids[\s\S]*In the peripheral/);
    expect(resultText(2)).toMatch(/one[\s\S]*tool-not-allowed/);
    // The agent, and the one that it started.
    const entered = requests.filter(({ messages }) => messages.some((message) => message.includes('# Where you are')));
    expect(entered.length).toBeGreaterThanOrEqual(2);
    expect([read('made.txt'), read('src/made.js')]).toEqual([null, null]);
  });

  test.each([
    ['a hook program that crashes', '#!/bin/sh\nexit 1\n'],
    ['a hook program that is killed', '#!/bin/sh\nkill -9 $$\n'],
    [
      'a hook program that talks nonsense',
      `#!/bin/sh\ncat > /dev/null\nprintf '{"hookSpecificOutput":{"permissionDec'\n`,
    ],
    ['a hook program that refuses without a word', '#!/bin/sh\nexit 2\n'],
  ])('runs none of Codex’s own tools with %s', async (_, program) => {
    const { resultText, read } = await play(
      { main: [shell('echo x > made.txt'), patch('*** Add File: src/made.js', '+x'), over] },
      { whileRunning: program },
    );
    expect(resultText(1)).toContain('hopgate');
    expect(resultText(2)).toContain('hopgate');
    expect([read('made.txt'), read('src/made.js')]).toEqual([null, null]);
  });

  test('replaces a killed daemon and continues the session', async () => {
    const stop = (): ScriptedTurn => {
      const { env } = worlds[0] as CodexWorld;
      const [daemon] = processesOf(env).filter(({ args }) => args.includes('hook-main') && args.endsWith('daemon'));
      process.kill(daemon?.pid as number, 'SIGKILL');
      return call('read', { path: 'src/a.js' });
    };
    const { resultText, ended, read } = await play({
      main: [call('mode', { to: 'diagnose', reason: 'r' }), stop, shell('echo x > made.txt'), over, over],
    });
    expect(resultText(2)).toContain('one');
    expect(resultText(3)).toContain(`mcp__${SERVER}__bash_readonly`);
    expect(read('made.txt')).toBeNull();
    expect(ended.code).toBe(0);
  });

  test('answers in the hook program itself without a daemon', async () => {
    const { resultText, read } = await play(
      { main: [shell('echo x > made.txt'), over] },
      { env: { HOPGATE_DAEMON: 'off' } },
    );
    expect(resultText(1)).toContain('decided by hopgate');
    expect(read('made.txt')).toBeNull();
  });

  test('reports hooks that a policy disables before anything starts', async () => {
    const { ended, requests } = await play(
      { main: [over] },
      { config: '\n[hooks.state."/<session-flags>/config.toml:pre_tool_use:0:0"]\nenabled = false\n' },
    );
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("6 of hopgate's 7 hooks") });
    expect(requests).toEqual([]);
  });

  test('runs the built-in scenario from the first read to the push, and its evidence verifies', async () => {
    const { root, remote, config } = makeFixtureRepository('bug-in-median');
    onTestFinished(() => rmSync(dirname(root), { recursive: true, force: true }));
    const scenario = await loadScenario(join(import.meta.dirname, '../../specs/scenarios/fix-a-bug.yaml'));
    const steps = scenario.steps.flatMap((step) => {
      const turn = turnOf(step.action);
      const text = `I go on in my peripheral: I ${step.action.verb === 'step' ? 'use a tool' : step.action.verb}.`;
      return turn ? [{ step, turn: { text, ...turn } }] : [];
    });
    const leave = call('hop', { to: 'explore', exit: 'par-generated', reason: 'I have written my review in reflect' });
    const world = await codexWorld({ scripts: { main: [...steps.map(({ turn }) => turn), leave, over, over] } });
    worlds.push(world);
    writeTree(root, {
      'hopgate.yaml': JSON.stringify({
        scopes: config.scopes,
        test: config.test,
        git: config.git,
        toolchains: config.toolchains,
      }),
    });
    expect(await hopgate(world, root, ['trust', '--yes'])).toMatchObject({ code: 0 });
    const ended = await hopgate(world, root, ['codex', '--approve', 'execute,deploy', 'exec', 'fix it']);
    expect(ended).toMatchObject({ code: 0 });
    for (const [index, { step }] of steps.entries()) {
      const text = world.model.requests[index + 1]?.results.map(({ text }) => text).join('\n') ?? '';
      const output = text.replace(/^Wall time.*\nOutput:\n/, '');
      // A tool that is not open is not offered, and Codex does not send a call of it.
      const refused = ['unsupported call', ...DENIAL_CODES].some((code) => output.slice(0, 60).includes(code));
      expect({ line: step.line, results: text, refused }).toMatchObject({
        refused: step.expect !== null && 'denied' in step.expect,
      });
    }
    const log = execFileSync('git', ['-C', remote, 'log', '--oneline', 'main'], { encoding: 'utf8' });
    expect(log).toContain('Sort numbers as numbers');
    const session = sessionIn(ended);
    expect(await hopgate(world, root, ['verify', session])).toMatchObject({ code: 0 });
    const inhabitation = await hopgate(world, root, ['verify', session, '--inhabited']);
    expect(inhabitation.code, inhabitation.stdout).toBe(0);
  });
});

/** The processes whose state lies in this world. */
function processesOf({ XDG_STATE_HOME = '' }: CodexWorld['env']): readonly { pid: number; args: string }[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const env = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return env.includes(`XDG_STATE_HOME=${XDG_STATE_HOME}`) ? [{ pid: Number(pid), args }] : [];
    } catch {
      return [];
    }
  });
}

/** A step of a scenario as the model's turn; null if no agent can make it. */
function turnOf(action: ScenarioAction): ScriptedTurn | null {
  if (action.verb === 'mode') {
    const { to, reason, summary, exitCriteria } = action;
    return call('mode', {
      to,
      ...(reason ? { reason } : {}),
      ...(summary ? { summary } : {}),
      ...(exitCriteria ? { 'exit-criteria': exitCriteria } : {}),
    });
  }
  if (action.verb === 'hop') {
    const { verb: _, by: __, ...hop } = action;
    return call('hop', hop);
  }
  if (action.verb !== 'step') return null;
  const { tool, args } = action;
  return call(tool.replaceAll('-', '_'), Array.isArray(args) ? { path: args[0] } : (args as object));
}
