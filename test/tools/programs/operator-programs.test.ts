import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ProjectConfig } from '../../../src/spec/types.ts';
import { isDeep, sample } from '../../depth.ts';
import { ok, scratch } from '../shell/support.ts';

afterEach(() => void vi.unstubAllEnvs());

/**
 * A home folder with files in it: those that begin with `#!` can be executed, `-> x` is a link, `elf` a copy of a
 * binary.
 */
function homeWith(
  files: { readonly [path: string]: string },
  path: readonly string[],
  env: { [name: string]: string } = {},
): string {
  const home = scratch();
  for (const [name, text] of Object.entries(files)) {
    const file = join(home, name);
    mkdirSync(dirname(file), { recursive: true });
    const filled = text.replaceAll('$HOME', home);
    if (filled.startsWith('-> ')) symlinkSync(filled.slice(3), file);
    else if (filled === 'elf') copyFileSync(realpathSync('/bin/true'), file);
    else writeFileSync(file, filled);
    if (filled.startsWith('#!') || filled === 'elf') chmodSync(file, 0o755);
  }
  vi.stubEnv('HOME', home);
  vi.stubEnv('PATH', [...path.map((folder) => join(home, folder)), '/usr/local/bin', '/usr/bin', '/bin'].join(':'));
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value.replaceAll('$HOME', home));
  return home;
}

const says = (text: string) => `#!/bin/sh\necho ${text}\n`;

async function tested(run: readonly string[], root = scratch(), config: Partial<ProjectConfig> = {}) {
  const { result } = await ok(root, 'bash-test', {}, { config: { test: [{ run, report: 'none' }], ...config } });
  return result;
}

/** Several programs of one shell line: each must be the same as outside. */
const line = (text: string, root?: string, config: Partial<ProjectConfig> = {}) =>
  tested(['sh', '-c', text], root, config);

describe('a test command', () => {
  test('finds the operator’s programs with their installation, and with the programs that they start', async () => {
    const home = homeWith(
      {
        '.nvm/versions/node/v22.3.0/bin/python3': '#!/bin/sh\ncat "$(dirname "$0")/../lib/version"\n',
        '.nvm/versions/node/v22.3.0/bin/tool': '#!/usr/bin/env python3\n',
        '.nvm/versions/node/v22.3.0/lib/version': 'of nvm',
        '.nvm/versions/node/v20.0.0/lib/version': 'of another',
        '.ssh/id': 'SECRET',
      },
      ['.nvm/versions/node/v22.3.0/bin'],
    );
    expect(await tested(['tool'])).toMatchObject({ verdict: 'pass', stdout: 'of nvm' });
    // The command does not name it; without hopgate's search, the system's program would run instead.
    expect(await line('python3')).toMatchObject({ stdout: 'of nvm' });
    const seen = await line(
      `ls -A ${home} ${home}/.nvm/versions/node; touch ${home}/.nvm/versions/node/v22.3.0/x || true`,
    );
    expect(seen.stdout).toBe(`${home}:\n.nvm\n\n${home}/.nvm/versions/node:\nv22.3.0\n`);
    expect(seen.stderr).toContain('Read-only');
  });

  const ENVIRONMENTS = [
    ['Pipenv', { Pipfile: '' }, () => '.local/share/virtualenvs/any-name'],
    [
      'Poetry',
      { 'poetry.lock': '' },
      (root: string) =>
        `.cache/pypoetry/virtualenvs/shop-${createHash('sha256').update(root).digest('base64url').slice(0, 8)}-py3.11`,
    ],
  ] as const;
  test.runIf(isDeep).each(sample(ENVIRONMENTS, 2))(
    'finds a program with the virtual environment that %s keeps in the home folder, as if it were active',
    async (_, files, place) => {
      const root = scratch(files);
      const other = `${place('/another')}-other`;
      const home = homeWith(
        {
          [`${place(root)}/pyvenv.cfg`]: '',
          [`${place(root)}/.project`]: root,
          [`${place(root)}/bin/python`]: '-> /usr/bin/python3',
          [`${place(root)}/bin/check-shop`]: `#!$HOME/${place(root)}/bin/python\nimport os; print(os.environ["VIRTUAL_ENV"])\n`,
          [`${other}/pyvenv.cfg`]: '',
          [`${other}/.project`]: '/another',
          [`${other}/bin/check-shop`]: says('another'),
        },
        [],
      );
      expect(await tested(['check-shop'], root)).toMatchObject({ verdict: 'pass', stdout: `${home}/${place(root)}\n` });
      expect((await line(`ls -R ${home}`, root)).stdout).not.toContain('-other');
      expect(await tested(['check-shop'], scratch())).toMatchObject({ verdict: 'error', exit: 127 });
    },
  );

  test.runIf(isDeep)('shows a program alone if its folder contains other files of the operator', async () => {
    const home = homeWith(
      {
        '.local/bin/uv': says('uv 0.9'),
        '.local/bin/private': says('SECRET'),
        '.local/share/x': 'SECRET',
        '.local/lib/y': '',
      },
      ['.local/bin'],
    );
    expect(await tested(['uv'])).toMatchObject({ stdout: 'uv 0.9\n' });
    expect(await line(`uv; ls -A ${home}/.local ${home}/.local/bin`, undefined, { programs: ['uv'] })).toMatchObject({
      stdout: `uv 0.9\n${home}/.local:\nbin\n\n${home}/.local/bin:\nuv\n`,
    });
    expect(await line('private')).toMatchObject({ verdict: 'error', exit: 127 });
  });

  test('finds a program through links, and with the interpreter of its first line', async () => {
    homeWith(
      {
        '.local/bin/pt': '-> ../share/pipx/venvs/pt/bin/pt',
        '.local/share/pipx/venvs/pt/bin/pt': '#!$HOME/.local/share/pipx/venvs/pt/bin/python',
        '.local/share/pipx/venvs/pt/pyvenv.cfg': '',
        '.local/share/pipx/venvs/pt/bin/python': '-> $HOME/.local/share/uv/python/current/bin/python3.12',
        '.local/share/uv/python/current': '-> cpython-3.12.4',
        '.local/share/uv/python/cpython-3.12.4/bin/python3.12':
          '#!/bin/sh\ncat $HOME/.local/share/uv/python/current/lib/os.py',
        '.local/share/uv/python/cpython-3.12.4/lib/os.py': '3.12.4',
      },
      ['.local/bin'],
    );
    expect(await tested(['pt'])).toMatchObject({ verdict: 'pass', stdout: '3.12.4' });
  });

  test.runIf(isDeep)('finds programs with the variables for their location and version', async () => {
    const home = homeWith(
      {
        '.sdkman/java/current': '-> 21',
        '.sdkman/java/21/bin/java': '#!/bin/sh\ncat "$JAVA_HOME/lib/release"; echo $TOOL_VERSION$API_TOKEN$DATA_DIR',
        '.sdkman/java/21/lib/release': '21 ',
      },
      ['.sdkman/java/current/bin'],
      { JAVA_HOME: '$HOME/.sdkman/java/current', TOOL_VERSION: '1.2', API_TOKEN: 'SECRET', DATA_DIR: '$HOME/data' },
    );
    expect(await tested(['java'])).toMatchObject({ stdout: '21 1.2\n' });
    expect(await tested([`${home}/.sdkman/java/current/bin/java`])).toMatchObject({ stdout: '21 1.2\n' });
  });

  test.runIf(isDeep)('finds a program with the packages that only the operator has installed', async () => {
    const home = homeWith(
      {
        '.local/bin/tool': '#!/usr/bin/env python3\nimport mine\n',
        '.local/lib/python3.9/site-packages/mine.py': '9',
        '.local/lib/python3.9/private': 'SECRET',
        '.local/lib/notes/site-packages/x': 'SECRET',
        '.gem/ruby/3.1.0/gems/x': 'gem',
        '.gem/credentials': 'SECRET',
        '.cache/node/corepack/v1/pnpm/x': 'pnpm',
        '.cache/node/x': 'SECRET',
      },
      ['.local/bin'],
    );
    expect(
      await line('cd; find . -type f | sort; cat .gem/ruby/3.1.0/gems/x; touch .gem/ruby/x || true'),
    ).toMatchObject({
      stdout: [
        './.cache/node/corepack/v1/pnpm/x',
        // hopgate's own settings for pnpm.
        './.config/pnpm/rc',
        './.gem/ruby/3.1.0/gems/x',
        './.local/lib/python3.9/site-packages/mine.py',
        'gem',
      ].join('\n'),
    });
    expect((await line(`ls -A ${home} 2>&1; true`)).stdout).not.toContain('gem');
  });

  test.runIf(isDeep)('finds the subcommands of a program that are separate programs', async () => {
    homeWith(
      { 'b/cargo': '#!/bin/sh\nexec cargo-nextest "$@"\n', 'b/cargo-nextest': says('nextest'), 'b/cargo-x': says('x') },
      ['b'],
    );
    expect(await tested(['cargo', 'nextest', 'run'])).toMatchObject({ verdict: 'pass', stdout: 'nextest\n' });
    expect(await tested(['sh', '-c', 'cargo-x'])).toMatchObject({ verdict: 'error', exit: 127 });
  });

  test('finds no snaps, which start only through their service', async () => {
    homeWith({ 'usr/snap': '#!/bin/sh\necho started by snap\n', 'snap/bin/python3': '-> ../../usr/snap' }, [
      'snap/bin',
    ]);
    const { verdict, stderr } = await tested(['python3']);
    expect([verdict, stderr]).toEqual(['error', expect.stringContaining('a snap starts only through its service')]);
  });

  test('shows a program, but not the possible secrets in its installation', async () => {
    const home = homeWith(
      {
        'brew/bin/tool': says('brew'),
        'brew/etc/npmrc': 'SECRET',
        'brew/.env': 'SECRET',
        'brew/var/db/data': 'SECRET',
        'brew/share/x': 'x',
      },
      ['brew/bin'],
    );
    expect(
      await line(`tool; cd ${home}/brew; cat etc/npmrc .env; ls var; cat share/x`, undefined, { programs: ['tool'] }),
    ).toMatchObject({ stdout: 'brew\nx' });
  });

  test('shows a program, but not the other repositories of the workspace around it', async () => {
    const home = homeWith(
      { 'work/bin/tool': says('mine'), 'work/lib/x': '', 'work/private/.git/HEAD': '', 'work/private/a': 'SECRET' },
      ['work/bin'],
    );
    expect(await line(`tool; ls -R ${home}/work`, undefined, { programs: ['tool'] })).toMatchObject({
      stdout: `mine\n${home}/work:\nbin\n\n${home}/work/bin:\ntool\n`,
    });
  });
});

describe('a version manager’s shim', () => {
  const goenv = {
    '.goenv/shims/cat':
      '#!/usr/bin/env bash\nset -e\nexport GOENV_ROOT="$HOME/.goenv"\nexec "$HOME/.goenv/libexec/goenv" exec "cat" "$@"\n',
    '.goenv/libexec/goenv':
      '#!/bin/sh\nversion=$(/bin/cat .go-version 2>/dev/null || echo 1.22)\ntest -d "$GOENV_ROOT/versions/$version" || { echo "goenv: version $version is not installed" >&2; exit 1; }\necho "$GOENV_ROOT/versions/$version/bin/$2"\n',
    '.goenv/versions/1.22/bin/cat': says('1.22'),
    '.goenv/versions/1.22/lib/x': '',
    '.goenv/versions/1.23/bin/cat': says('1.23'),
    '.goenv/versions/1.23/lib/x': '',
  };

  test('leads to the program that the version manager selects for the repository', async () => {
    homeWith(goenv, ['.goenv/shims']);
    const root = scratch();
    expect(await line('cat', root)).toMatchObject({ verdict: 'pass', stdout: '1.22\n' });
    writeFileSync(join(root, '.go-version'), '1.23');
    expect(await line('cat', root)).toMatchObject({ stdout: '1.23\n' });
    expect(await tested(['cat'], root)).toMatchObject({ stdout: '1.23\n' });
  });

  test('is an error if its version manager selects no program, although the system has one of that name', async () => {
    homeWith(goenv, ['.goenv/shims']);
    const result = await line('cat /dev/null', scratch({ '.go-version': '1.9' }));
    expect(result).toMatchObject({ verdict: 'error', exit: 127 });
    expect(result.stderr).toContain('goenv: goenv: version 1.9 is not installed');
  });

  test('is followed to the real program if one binary serves all names', async () => {
    homeWith(
      {
        '.volta/bin/npm': '-> volta-shim',
        '.volta/bin/volta-shim': says('the shim'),
        '.volta/bin/volta': '#!/bin/sh\necho $HOME/.volta/tools/image/node/22/bin/$2\n',
        '.volta/tools/image/node/22/bin/npm': '#!/usr/bin/env node\n',
        '.volta/tools/image/node/22/bin/node': says('node 22'),
        '.volta/tools/image/node/22/lib/x': '',
      },
      ['.volta/bin'],
    );
    expect(await tested(['npm'])).toMatchObject({ stdout: 'node 22\n' });
  });
});

describe('a repository', () => {
  test('has its .venv at the front of PATH, with the Python that made it', async () => {
    const home = homeWith(
      {
        '.uv/cpython/bin/python3.12': 'elf',
        '.uv/cpython/lib/python3.12/encodings/x': '',
        '.uv/cpython/lib/secret': 'x',
      },
      [],
    );
    const root = scratch({ '.venv/pyvenv.cfg': `home = ${home}/.uv/cpython/bin`, '.venv/bin/x': '' });
    symlinkSync(`${home}/.uv/cpython/bin/python3.12`, join(root, '.venv/bin/python'));
    symlinkSync('python', join(root, '.venv/bin/python3'));
    expect(await line('command -v python3; python3 && echo ran', root)).toMatchObject({
      stdout: `${root}/.venv/bin/python3\nran\n`,
    });
  });

  test('cannot show files of the operator by links or by the first lines of scripts', async () => {
    const home = homeWith(
      {
        'private/bin/python3.12': 'elf',
        'private/lib/notes': 'SECRET',
        'private/key': '#! SECRET',
        'bin/private-script': '#!/bin/sh\n# SECRET',
      },
      ['bin'],
    );
    const targets = ['private/bin/python3.12', 'private/key', 'private/lib/notes', 'bin/private-script'];
    for (const target of sample(targets, 4)) {
      const root = scratch({
        '.venv/pyvenv.cfg': '',
        '.venv/bin/x': '',
        'a.sh': `#!${home}/${target}\n`,
        'b.sh': '#!/usr/bin/env private-script\n',
      });
      symlinkSync(join(home, target), join(root, '.venv/bin/python'));
      for (const name of ['a.sh', 'b.sh']) chmodSync(join(root, name), 0o755);
      for (const run of [['./a.sh'], ['./b.sh'], ['.venv/bin/python'], ['python']])
        expect(await tested(run, root)).not.toMatchObject({ verdict: 'pass' });
      expect(await line(`ls -AR ${home}`, root)).toMatchObject({ verdict: 'fail' });
    }
  });

  test('is not shown as part of an installation that contains it, and neither is hopgate’s state', async () => {
    const root = scratch({ 'repo/a': '', 'bin/tool': says('x'), 'lib/x': '', secret: 'SECRET' });
    chmodSync(join(root, 'bin/tool'), 0o755);
    homeWith(
      { 'x/hopgate/bin/other': says('y'), 'x/hopgate/lib/y': '', 'x/hopgate/token': 'SECRET' },
      ['x/hopgate/bin'],
      {
        XDG_STATE_HOME: '$HOME/x',
      },
    );
    vi.stubEnv('PATH', `${root}/bin:${process.env['PATH']}`);
    const seen = await line(`tool; ls ${root}`, join(root, 'repo'), { programs: ['tool'] });
    expect(seen.stdout).toBe('x\nbin\nrepo\n');
    expect(await tested(['other'])).toMatchObject({
      verdict: 'error',
      stderr: expect.stringContaining("the folder of hopgate's state"),
    });
    expect(statSync(root).isDirectory()).toBe(true);
  });
});
