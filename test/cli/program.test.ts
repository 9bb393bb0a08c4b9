import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { processIo } from '../../src/cli/io.ts';
import { createCliProgram } from '../../src/cli/program.ts';
import { isDeep } from '../depth.ts';
import { machine, spawnCli } from './run.ts';

const program = await createCliProgram(processIo());
/** The commands that the help lists; those that only client programs call are hidden. */
const COMMANDS = program
  .createHelp()
  .visibleCommands(program)
  .map((command) => command.name())
  .filter((name) => name !== 'help');

describe('the command line', () => {
  it('prints its version and its help', async () => {
    const { run } = machine();
    expect(await run('--version')).toMatchObject({ code: 0, out: `${manifest.version}\n`, err: '' });
    const help = await run('--help');
    expect(help.code).toBe(0);
    for (const name of COMMANDS) expect(help.out).toContain(`  ${name} `);
  });

  it('has all listed commands', () => expect(COMMANDS.length).toBeGreaterThanOrEqual(8));

  it.each(COMMANDS)('has examples and --json in the help of %s', async (name) => {
    const { code, out } = await machine().run(name, '--help');
    expect(code).toBe(0);
    expect(out).toContain('Examples:\n  $ hopgate ');
    expect(out).toContain('--json');
  });

  it.each([
    [['docter'], "unknown command 'docter' (Did you mean doctor?)"],
    [['check', '--rot', '.'], "unknown option '--rot' (Did you mean --root?)"],
    [['check', 'a', 'b'], "too many arguments for 'check'"],
    [['seal'], "missing required argument 'session'"],
    [['send'], 'no message is given'],
    [['activity', 'a', '--limit', '0'], 'It must be a whole number from 1 to 1000.'],
    [['daemon', 'start', '--idle-minutes', 'x'], 'It must be a whole number from 1 to 525600.'],
    [['replay', '--config', '/nowhere'], 'there is no hopgate.yaml in /nowhere'],
    [['mcp', '--peripheral', 'explor'], 'Did you mean explore?'],
    [['graph', '--format', 'gif'], "argument 'gif' is invalid. Allowed choices are mermaid, dot, json, svg, stately."],
    [['check', '--root', '/nowhere/at/all'], 'there is no folder /nowhere/at/all'],
    [['bell', 'a', 'hi', '--act', 'order'], 'Allowed choices are query, answer,'],
    [['inbox', '--as', 'A B'], '"A B" is not a person\'s name'],
    [['shell', '--agent', ''], 'It must be a name without control characters.'],
    [['grants', '--by', ''], 'It must be a name: letters,'],
    [['send', '--payload', '5'], '--payload is neither a text nor an object'],
    [['claude', '--claude', '/bin/true', '--peripheral', 'explor'], 'Did you mean explore?'],
    [['agency', 'connect', 'desk', '--token-file', 'x'], 'It must be an address, such as http://10.0.0.1:4781.'],
    [
      ['agency', 'run', 'a', 'b', '--prompt', 'x', '--route', 'desk'],
      'no remote agent of the registry has the url desk',
    ],
  ])('answers %j with exit code 2', async (argv, message) => {
    const { code, out, err } = await machine().run(...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  it('prints help as an error without a command', async () => {
    const { code, out, err } = await machine().run();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: hopgate');
  });

  it('prints errors as one JSON document with --json in any position', async () => {
    for (const argv of [
      ['--json', 'docter'],
      ['docter', '--json'],
    ]) {
      const { code, out, err } = await machine().run(...argv);
      expect({ code, err }).toEqual({ code: 2, err: '' });
      expect(JSON.parse(out)).toMatchObject({
        error: { code: 'usage', message: expect.stringContaining('Did you mean doctor?') },
      });
    }
  });

  it('prints the help of a command that needs one of its own commands', async () => {
    for (const name of ['agency', 'upstream', 'daemon']) {
      const { code, err } = await machine().run(name);
      expect({ code, start: err.split('\n')[0] }).toEqual({
        code: 2,
        start: `Usage: hopgate ${name} [options] [command]`,
      });
    }
  });

  it('says how to find the session that a command needs', async () => {
    for (const name of ['activity', 'seal', 'erase', 'resume']) {
      const { code, err } = await machine().run(name);
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringContaining(`"hopgate sessions" lists them. Run "hopgate ${name} --help".`),
      });
    }
    expect((await machine().run('replay')).code).toBe(2);
  });

  it('shows the stack of an error only with HOPGATE_DEBUG=1', async () => {
    expect((await machine().run('log', 'x')).err).not.toContain('    at ');
    expect((await machine({}, { HOPGATE_DEBUG: '1' }).run('log', 'x')).err).toContain('    at ');
  });
});

describe('the option --approve', () => {
  const SCENARIO = 'title: one\nsteps: [{mode: diagnose}]\n';

  it.each([[['run', 'one.yaml', '--root', '.']], [['shell']], [['mcp']]])(
    'lists the names that %j accepts if one is unknown, and opens no session',
    async (argv) => {
      const { run } = machine({ 'one.yaml': SCENARIO });
      const { code, out, err } = await run(...argv, '--approve', 'execute,deplyo');
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain('--approve: there is no destination, mode or tool "deplyo" to approve');
      expect(err).toMatch(/Did you mean deploy\? Destinations: .*deploy.*; modes: .*execute.*; or all\./);
      expect((await run('sessions')).out).not.toContain('s-');
    },
  );

  it.each([['execute,deploy'], ['execute', 'deploy'], ['execute,install,deploy']])('accepts %j', async (...names) => {
    const { run } = machine({ 'one.yaml': SCENARIO });
    expect(await run('run', 'one.yaml', '--root', '.', '--approve', ...names)).toMatchObject({ code: 0, err: '' });
  });
});

describe('hopgate claude in plan mode', () => {
  it('begins in the mode that allows observing, also if no tool is called read', async () => {
    const modes = 'modes: { talk: { effects: [coordinate] }, ship: { effects: [act] }, look: { effects: [observe] } }';
    const here = machine({
      'hopgate.yaml': 'specs: specs\n',
      'specs/gate.yaml': `initial: talk\nreset: talk\n${modes}\ntransitions: [{ from: talk, to: ship }, { from: talk, to: look }]\n`,
      'specs/peripherals/desk.yaml':
        'id: desk\npurpose: Look.\ntools: [grep]\nscope: full-codebase\nentry: [default]\nexit: { back: desk }\n',
    });
    const trusted = await here.run('trust', '--yes');
    expect(trusted.code, trusted.all).toBe(0);
    const begun = async (...args: string[]) => {
      const { err } = await here.run('claude', '--claude', '/bin/true', '--', ...args);
      return /^hopgate: session \S+ in \S+: (\S+), desk$/m.exec(err)?.[1] ?? err;
    };
    expect(await begun('--permission-mode', 'plan')).toBe('look');
    expect(await begun()).toBe('talk');
  });
});

describe('the process of the command line', () => {
  it.runIf(isDeep)('exits with the code of the command', async () => {
    expect((await spawnCli(['--version'])).code).toBe(0);
    expect((await spawnCli(['log', 'no-such-session', '--root', machine().root])).code).toBe(1);
    expect((await spawnCli(['docter'])).code).toBe(2);
  });

  it.runIf(isDeep)('respects FORCE_COLOR and NO_COLOR', async () => {
    const env = { PATH: process.env['PATH'], HOME: machine().root };
    expect((await spawnCli(['docter'], { env: { ...env, FORCE_COLOR: '1' } })).err).toContain('\u001b[31m');
    expect((await spawnCli(['docter'], { env: { ...env, NO_COLOR: '1' } })).err).not.toContain('\u001b');
    expect((await spawnCli(['docter'], { env })).err).not.toContain('\u001b');
  });

  it.runIf(isDeep)('ends quietly when its reader closes the pipe', async () => {
    const { execFileSync } = await import('node:child_process');
    const script = `"${process.execPath}" src/cli/main.ts graph --json | head -c 1; echo "$\{PIPESTATUS[0]}"`;
    expect(
      execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
    ).toBe('{0\n');
  });

  const old = '/usr/bin/node';
  it.skipIf(!existsSync(old))(
    'names the needed version on an old Node (skipped where the system has none)',
    async () => {
      const { execFileSync } = await import('node:child_process');
      const version = execFileSync(old, ['--version'], { encoding: 'utf8' }).slice(1).split('.').map(Number);
      const tooOld = version[0]! < 22 || (version[0] === 22 && version[1]! < 13);
      const result = await new Promise<{ code: unknown; err: string }>((done) => {
        import('node:child_process').then(({ execFile }) =>
          execFile(old, ['src/cli/start.cjs', '--version'], (error, _out, err) =>
            done({ code: error === null ? 0 : error.code, err }),
          ),
        );
      });
      expect(result.code).toBe(tooOld ? 2 : 0);
      expect(result.err.includes('22.13 or newer')).toBe(tooOld);
    },
  );
});

describe('a file system error', () => {
  it.each([
    [['graph', '--out', '.'], /^hopgate: \S+ is a folder, not a file\n {2}Name a file\.\n$/],
    [
      ['graph', '--out', 'none/x'],
      /^hopgate: \S+none\/x does not exist\n {2}Name an existing file or folder; a new file needs an existing folder\.\n$/,
    ],
    [['graph', '--out', 'a.txt/x'], /a part of the path \S+ is a file, not a folder/],
    [['graph', '--out', '/dev/full'], /no space is left on the disk of the file\n {2}Free some space/],
    [['activity', 's', '--import', '.'], /\S+ is a folder, not a file/],
    [['verify', 's', '--seal', 'a.txt/x', '--key', 'y'], /a part of the path/],
  ])('is shown as a sentence with a remedy: %j', async (argv, message) => {
    const { code, err } = await machine({ 'a.txt': '' }).run(...argv);
    expect(err).toMatch(message);
    expect(code).toBeGreaterThan(0);
  });
});

it('a full disk behind the output is reported in one line', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, ['src/cli/main.ts', '--help'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'hopgate: cannot print: no space is left on the disk of the file\n',
  });
});

describe('the start of the command line', () => {
  /** The modules of commands that a command line loads. */
  function loaded(...argv: string[]): readonly string[] {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });`;
    const preload = `data:text/javascript,${encodeURIComponent(hook)}`;
    const { stderr } = spawnSync(process.execPath, ['--import', preload, 'src/cli/main.ts', ...argv], {
      encoding: 'utf8',
    });
    return [...stderr.matchAll(/\/src\/cli\/commands\/(.*)\.ts$/gm)].map(([, name]) => name!);
  }

  it.runIf(isDeep)('loads no command for --help, and only one for that command’s help', () => {
    expect(loaded('--help')).toEqual([]);
    expect(loaded('graph', '--help')).toEqual(['specs/graph']);
  });
});

it.runIf(isDeep).each(['src/cli/mcp/serve-mcp.ts', 'src/cli/codex/run-codex.ts'])(
  '%s does not load fetch before a client needs it',
  (file) => {
    const loaded = `await import(${JSON.stringify(resolve(file))}); console.log(process.moduleLoadList.filter((name) => /undici|internal\\/http2/.test(name)).join())`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', loaded], { encoding: 'utf8' });
    expect([stdout, stderr]).toEqual(['\n', '']);
  },
);
