import type { ProjectConfig, ScopeRule } from '../spec/types.ts';
import { fileIn } from './sample-arguments.ts';

/** Nothing that any scope grants: outside of the root, or no path at all. */
const NOWHERE = [
  '',
  '..',
  '../outside',
  'src/../../outside',
  '/etc/passwd',
  'a\u0000b',
  'a\nb',
  'half \ud800',
  `${'long/'.repeat(1000)}a`,
];

/** What steers git, a shell, an editor, an agent or hopgate itself, and how it may be written so that a file system still finds it. */
const STEERING = [
  ...['.git/hooks/pre-commit', '.gitconfig', '.gitmodules', '.husky/pre-commit', '.claude/settings.json', '.codex/a'],
  ...['.mcp.json', '.cursor/a', '.cursorrules', '.windsurf/a', '.windsurfrules', '.gemini/a', '.opencode/a'],
  ...['.clinerules', '.roo/a', '.continue/a', '.aider.conf.yml', '.vscode/tasks.json', '.idea/a', '.zed/a'],
  ...['.devcontainer/a', '.exrc', '.nvimrc', '.nvim.lua', '.gdbinit', '.lldbinit', '.bashrc', '.bash_profile'],
  ...['.bash_login', '.bash_logout', '.profile', '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout', '.inputrc'],
  ...['.envrc', '.ripgreprc', '.npmrc', '.yarnrc.yml', 'HEAD', 'bare/HEAD'],
  ...['node_modules/hopgate/a.js', 'node_modules/.bin/hopgate'],
  ...['.GIT/a', '.git./a', '.git::$INDEX_ALLOCATION/a', '.g\u200dit/a', '．git/a', 'GIT~1/a', 'deep/er/.Git/a'],
];

/** Where git keeps the tokens of a remote, whatever the repository masks. */
const KEYS = ['.git/config', '.git-credentials', '.GIT/Config', 'sub/.git/credentials'];

/** Paths that rules may stand against, and some beside them that none stands against. */
export function oddPaths(
  role: 'path:read' | 'path:write',
  { write }: ScopeRule,
  { mask, specs }: ProjectConfig,
): readonly string[] {
  const [place] = write;
  const beneath = place === undefined ? null : folderOf(place);
  const granted =
    role === 'path:write' && beneath !== null
      ? [
          fileIn(place!),
          ...write.map(fileIn),
          ...STEERING.map((path) => `${beneath}${path}`),
          `${beneath.replace(/\/+$/, '')}-not/a.txt`,
          beneath.replace(/\/+$/, ''),
          'hopgate.yaml',
          './hopgate.yaml',
          'deep/hopgate.yaml',
          ...(specs === 'default' ? [] : [`${specs}/a.yaml`, `${specs}-not/a.yaml`]),
        ]
      : [];
  return [...NOWHERE, ...KEYS, ...mask.flatMap(maskedBy), 'elsewhere/a.txt', ...granted].filter(
    (path, at, all) => all.indexOf(path) === at,
  );
}

const folderOf = (place: string): string => (/\.[a-z0-9]+$/i.test(place) ? '' : `${place.replace(/\/+$/, '')}/`);

/** Paths that a mask hides: at the root, deep down, beneath what it names, in other letters. */
function maskedBy(mask: string): readonly string[] {
  const bare = mask.replaceAll('**/', '').replaceAll('*', 'x').replace(/\/+$/, '');
  const deep = mask.includes('/') && !mask.startsWith('**/') ? [] : [`a/.b/${bare}`];
  return [bare, ...deep, `${bare}/beneath`, bare.toUpperCase()];
}
