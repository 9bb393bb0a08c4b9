import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { applyInstall } from '../../src/cli/install/apply-install.ts';
import { claudeInstaller } from '../../src/cli/install/claude-installer.ts';
import { codexInstaller } from '../../src/cli/install/codex-installer.ts';
import type { Installer, InstallScope, InstallTarget } from '../../src/cli/install/installer.ts';
import { CliError, type Io } from '../../src/cli/io.ts';
import { depth } from '../depth.ts';
import { nameServer } from '../server-name.ts';

type Files = { readonly [path: string]: string };

/** All files and folders below a folder, with their bytes. */
function snapshot(folder: string): Files {
  const found: { [path: string]: string } = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const mode = (lstatSync(path).mode & 0o777).toString(8);
    found[path.slice(folder.length + 1)] = entry.isFile() ? `${mode} ${readFileSync(path, 'latin1')}` : 'folder';
  }
  return found;
}

const base = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-uninstall-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** The user's files, without hopgate's state folder. */
const places = () => ({ home: snapshot(join(base, 'home')), repo: snapshot(join(base, 'repo')) });

/** A home folder and a repository with these files, as a target of an installation. */
function targetWith(files: Files, scope: InstallScope, env: NodeJS.ProcessEnv): InstallTarget {
  rmSync(base, { recursive: true, force: true });
  for (const folder of ['home', 'repo', 'state']) mkdirSync(join(base, folder), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
    chmodSync(join(base, path), 0o640);
  }
  nameServer(join(base, 'state'));
  const own = { HOME: join(base, 'home'), XDG_STATE_HOME: join(base, 'state'), PATH: process.env['PATH'], ...env };
  const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io: Io = { stdout, stderr, stdin, isTty: false, env: own, cwd: base, color: false, json: false, exitCode: 0 };
  return { scope, root: join(base, 'repo'), io };
}

/** Installs (twice if asked) and uninstalls; the files before and after. Null if the installation was refused. */
async function roundTrip(installer: Installer, target: InstallTarget, times: number) {
  const before = places();
  try {
    for (let i = 0; i < times; i++) {
      const { changes, keep } = await installer.install(target);
      applyInstall(changes, keep);
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    expect(places(), 'a refused installation changes nothing').toEqual(before);
    return null;
  }
  expect(places()).not.toEqual(before);
  const { changes, keep } = await installer.uninstall(target);
  applyInstall(changes, keep);
  return { before, after: places() };
}

const json = fc.jsonValue({ maxDepth: 2 });
const settings = fc
  .record(
    {
      disableAllHooks: fc.constantFrom<unknown>(true, false, null),
      hooks: fc.constantFrom<unknown>(
        {},
        { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'x' }] }] },
      ),
      permissions: fc.constantFrom<unknown>({}, { allow: ['Bash(ls)'] }, { allow: [], deny: ['Read(.env)'] }),
      statusLine: fc.constant({ type: 'command', command: 'date' }),
      model: fc.string(),
      other: json,
    },
    { requiredKeys: [] },
  )
  .chain((object) =>
    fc.constantFrom(
      ...[JSON.stringify(object), JSON.stringify(object, null, 2), `${JSON.stringify(object, null, '\t')}\n`],
      `\n ${JSON.stringify(object, null, 4).replaceAll('\n', '\r\n')}\r\n\n`,
    ),
  );
const existing = fc.option(fc.oneof(settings, fc.constantFrom('{}', '{}\n', '{ }', '', '\n')), { nil: null });
const scopes = fc.constantFrom<InstallScope>('user', 'project');
const skills = fc.constantFrom<Files>(
  {},
  { 'home/.claude/skills/mine/SKILL.md': 'mine', 'repo/.claude/skills/mine/SKILL.md': 'mine' },
  { 'home/.claude/skills/hopgate/SKILL.md': 'my own', 'repo/.claude/skills/hopgate/SKILL.md': 'my own' },
);
const times = fc.constantFrom(1, 2);
/** An installation of Claude Code writes a dozen files, each to the disk. */
const [CLAUDE_RUNS, CODEX_RUNS] = [depth(1, 25), depth(5, 200)];

test('after an uninstall, all files of Claude Code have the bytes that they had before the installation', async () => {
  await fc.assert(
    fc.asyncProperty(existing, scopes, skills, times, async (text, scope, skill, count) => {
      const file = scope === 'user' ? 'home/.claude/settings.json' : 'repo/.claude/settings.local.json';
      const target = targetWith({ ...skill, ...(text === null ? {} : { [file]: text }) }, scope, {});
      const ran = await roundTrip(claudeInstaller, target, count);
      if (ran) expect(ran.after).toEqual(ran.before);
    }),
    { numRuns: CLAUDE_RUNS },
  );
});

const line = fc.constantFrom(
  'model = "o"',
  '# a comment',
  '',
  '  ',
  'approval_policy = "never" # mine',
  'notify = [\n  "a",\n]',
);
const section = fc.constantFrom(
  ...[
    '[features]\nmulti = true',
    '[features]\nmcp_tool_list_changed = false',
    '[features]',
    '[mcp_servers.mine]\ncommand = "x"',
  ],
  '[[hooks.PreToolUse]]\nmatcher = "x"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "mine"',
  '[hooks.state]\n[hooks.state."/x:pre_tool_use:0:0"]\ntrusted_hash = "sha256:a"',
  '[profiles.fast]\nmodel = "p"',
);
const config = fc
  .tuple(
    fc.uniqueArray(line, { maxLength: 4 }),
    fc.uniqueArray(section, { maxLength: 3, selector: (text) => text.split('\n')[0] }),
    fc.constantFrom('', '\n', '\n\n', '\r\n', '\n# end'),
  )
  .map(([lines, sections, end]) => `${[...lines, ...sections].join('\n')}${end}`);
const hooksFile = fc.constantFrom(
  ...[
    '{}',
    '{}\n',
    '{"hooks":{}}',
    '{\n  "hooks": {\n    "Stop": [{ "hooks": [{ "type": "command", "command": "mine" }] }]\n  }\n}\n',
  ],
  '{"hooks":{"PreToolUse":[{"matcher":"x","hooks":[{"type":"command","command":"a"}]}]},"other":[1,{}]}',
  '\n',
);

test('after an uninstall, all files of Codex have the bytes that they had before the installation', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.option(config, { nil: null }),
      fc.option(hooksFile, { nil: null }),
      fc.option(config, { nil: null }),
      scopes,
      times,
      async (toml, hooks, ownToml, scope, count) => {
        const folder = scope === 'user' ? 'home/.codex' : 'repo/.codex';
        const files = {
          ...(toml === null ? {} : { [`${folder}/config.toml`]: toml }),
          ...(hooks === null ? {} : { [`${folder}/hooks.json`]: hooks }),
          ...(scope === 'user' || ownToml === null ? {} : { 'home/.codex/config.toml': ownToml }),
        };
        // Without Codex, its trust is left to the person; the rest is written.
        const target = targetWith(files, scope, { CODEX_BIN: '/none/codex', HOPGATE_HOOK_CLIENT: 'node' });
        const ran = await roundTrip(codexInstaller, target, count);
        if (ran) expect(ran.after).toEqual(ran.before);
      },
    ),
    { numRuns: CODEX_RUNS },
  );
});
