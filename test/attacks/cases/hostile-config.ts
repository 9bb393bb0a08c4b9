import fs from 'node:fs';
import { join } from 'node:path';
import { git as operatorGit, type World } from '../attacked-machine.ts';
import { type Case, rows } from '../case.ts';

const git = rows('deploy', 'bash-git');
const look = rows('explore', 'bash-readonly');

/** A program that the repository's configuration names, and the file that it creates when it runs. */
const SAID = 'RAN-FOR-THE-REPOSITORY';
const LEFT = '.git/ran-for-the-repository';

const kept = new WeakMap<World, string>();

/** Gives the repository its own configuration, with the program in place of `{EVIL}`, and attributes that use it. */
const plant =
  (values: readonly (readonly [key: string, value: string])[], attributes = '') =>
  (world: World): void => {
    const folder = join(world.root, '.git');
    kept.set(world, fs.readFileSync(join(folder, 'config'), 'utf8'));
    const evil = join(folder, 'evil.sh');
    fs.writeFileSync(evil, `#!/bin/sh\necho ${SAID}\ntouch ${join(world.root, LEFT)} ${world.outside}/ran\ncat\n`, {
      mode: 0o755,
    });
    fs.mkdirSync(join(folder, 'info'), { recursive: true });
    fs.writeFileSync(join(folder, 'info/attributes'), attributes);
    fs.writeFileSync(join(world.root, 'src/a.txt'), `alpha\nbeta\n${values[0]?.[0]}\n`);
    for (const [key, value] of values)
      operatorGit(
        world.root,
        'config',
        '--file',
        join(folder, 'config'),
        key,
        value.replace('{EVIL}', evil).replace('{OUT}', world.outside),
      );
  };

const restore = (world: World): void => {
  const folder = join(world.root, '.git');
  fs.writeFileSync(join(folder, 'config'), kept.get(world)!);
  for (const name of ['evil.sh', 'info/attributes', 'config.worktree', 'included', 'ran-for-the-repository'])
    fs.rmSync(join(folder, name), { force: true });
};

const attack = (
  name: string,
  command: string,
  values: readonly (readonly [key: string, value: string])[],
  attributes = '',
  expect: Case['expect'] = 'contained',
): Case =>
  git.attack('R14', `${name}: git ${command}`, { sub: command }, expect, {
    before: plant(values, attributes),
    after: restore,
    hides: [SAID],
    files: { [LEFT]: null },
  });

/** Keys that name a program, and the git command that would run it. */
const PROGRAMS: readonly (readonly [key: string, ...commands: string[]])[] = [
  ['core.fsmonitor', 'status', 'diff', 'add src/a.txt'],
  ['core.pager', 'log', 'diff'],
  ['pager.log', 'log'],
  ['core.editor', 'commit -m edited'],
  ['core.sshCommand', 'push'],
  ['core.gitProxy', 'push'],
  ['core.askPass', 'push'],
  ['core.alternateRefsCommand', 'push'],
  ['diff.external', 'diff', 'show HEAD', 'log -p'],
  ['credential.helper', 'push'],
  ['gpg.program', 'log', 'commit -m signed'],
  ['alias.status', 'status'],
  ['alias.log', 'log'],
  ['sequence.editor', 'commit -m sequenced'],
  ['trailer.sign.command', 'commit -m trailed'],
  ['uploadpack.packObjectsHook', 'push'],
  ['interactive.diffFilter', 'diff'],
  ['merge.evil.driver', 'status'],
];

/** Keys that no setting of hopgate can override: git does not run at all. */
const REFUSED: readonly (readonly [key: string, command: string, attributes?: string])[] = [
  ['filter.evil.clean', 'add src/a.txt', '* filter=evil\n'],
  ['filter.evil.process', 'status', '* filter=evil\n'],
  ['filter.evil.smudge', 'restore src/a.txt', '* filter=evil\n'],
  ['credential.https://example.com.helper', 'push'],
  ['remote.origin.receivepack', 'push'],
  ['remote.origin.uploadpack', 'push'],
  ['remote.origin.vcs', 'push'],
  ['url.{EVIL}.insteadOf', 'push'],
];

/** A repository's own configuration names programs: none of them ever runs, and work continues where it can. */
export const hostileConfigCases: readonly Case[] = [
  ...PROGRAMS.flatMap(([key, ...commands]) => commands.map((command) => attack(key, command, [[key, '{EVIL}']]))),
  ...REFUSED.map(([key, command, attributes]) => attack(key, command, [[key, '{EVIL}']], attributes, 'no-success')),
  attack('diff.evil.textconv', 'diff', [['diff.evil.textconv', '{EVIL}']], '* diff=evil\n'),
  attack('diff.evil.command', 'diff', [['diff.evil.command', '{EVIL}']], '* diff=evil\n'),
  attack('diff.evil.textconv', 'log -p', [['diff.evil.textconv', '{EVIL}']], '* diff=evil\n'),
  attack('hooks of its own', 'commit -m hooked', [['core.hooksPath', '.git']]),
  attack('a signature on every commit', 'commit -m signed', [
    ['gpg.program', '{EVIL}'],
    ['commit.gpgSign', 'true'],
  ]),
  attack('signatures that are shown', 'log', [
    ['gpg.program', '{EVIL}'],
    ['log.showSignature', 'true'],
  ]),
  attack('another work tree', 'status', [['core.worktree', '{OUT}']]),
  git.attack('R14', 'an included file: git status', { sub: 'status' }, 'contained', {
    before: (world) => {
      plant([['include.path', 'included']])(world);
      fs.writeFileSync(
        join(world.root, '.git/included'),
        `[core]\n\tfsmonitor = ${join(world.root, '.git/evil.sh')}\n[filter "evil"]\n\tclean = ${join(world.root, '.git/evil.sh')}\n`,
      );
      fs.writeFileSync(join(world.root, '.git/info/attributes'), '* filter=evil\n');
    },
    after: restore,
    hides: [SAID],
    files: { [LEFT]: null },
  }),
  git.attack('R14', 'the configuration of a work tree: git add', { sub: 'add', args: ['src/a.txt'] }, 'no-success', {
    before: (world) => {
      plant([['extensions.worktreeConfig', 'true']], '* filter=evil\n')(world);
      const own = join(world.root, '.git/config.worktree');
      operatorGit(world.root, 'config', '--file', own, 'filter.evil.clean', join(world.root, '.git/evil.sh'));
    },
    after: restore,
    hides: [SAID],
    files: { [LEFT]: null },
  }),
  look.attack('R14', 'core.fsmonitor, by the shell', { command: 'git status' }, 'contained', {
    before: plant([['core.fsmonitor', '{EVIL}']]),
    after: restore,
    files: { [LEFT]: null },
  }),
  ...['status', 'diff', 'log', 'show HEAD', 'add src/a.txt'].map((command) =>
    git.benign(
      'R14',
      `a configuration that names no program: git ${command}`,
      { sub: command },
      {
        before: plant([
          ['user.name', 'Somebody'],
          ['alias.st', 'status --short'],
          ['pull.rebase', 'true'],
          ['core.autocrlf', 'false'],
          ['branch.main.remote', 'origin'],
        ]),
        after: restore,
      },
    ),
  ),
];
