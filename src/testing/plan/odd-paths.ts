import { splitWords } from '../../base/text.ts';
import { isExcludingPattern } from '../../spec/path-patterns.ts';
import {
  GIT_CREDENTIAL_FILES,
  GIT_HEAD_FILE,
  HOPGATE_PACKAGE_PATHS,
  PROTECTED_FILE_NAMES,
} from '../../spec/policy/protected-names.ts';
import type { ProjectConfig, ScopeRule } from '../../spec/types.ts';
import { sampleFileIn } from '../samples/sample-arguments.ts';

/** Values that no scope grants: paths outside the root, and invalid paths. */
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

/** A third of the protected names, to save time, and spellings that a file system may treat as such a name. */
const PROTECTED = [
  ...PROTECTED_FILE_NAMES.filter((_, at) => at % 3 === 0).map((name, at) =>
    at % 2 === 0 ? `${name}/a` : `deep/er/${name}`,
  ),
  ...HOPGATE_PACKAGE_PATHS.map((names) => `${names.join('/')}/a.js`),
  GIT_HEAD_FILE,
  `bare/${GIT_HEAD_FILE}`,
  ...splitWords('.GIT/a .git./a .git::$INDEX_ALLOCATION/a .g\u200dit/a ．git/a GIT~1/a deep/er/.Git/a'),
];

/** Files in which git keeps the tokens of a remote; always masked. */
const CREDENTIALS = [
  GIT_CREDENTIAL_FILES.anywhere,
  ...GIT_CREDENTIAL_FILES.inGit.map((name) => `.git/${name}`),
  '.GIT/Config',
  'sub/.git/credentials',
];

export function pathsLikelyRefused(
  role: 'path:read' | 'path:write',
  { write }: ScopeRule,
  { mask, specs }: ProjectConfig,
): readonly string[] {
  const writePath = write.find((each) => !isExcludingPattern(each));
  const folder = writePath === undefined ? null : folderOf(writePath);
  const granted =
    role === 'path:write' && folder !== null
      ? [
          sampleFileIn(writePath!),
          ...write.map((each) => sampleFileIn(each.replace(/^!\/?/, ''))),
          ...PROTECTED.map((path) => `${folder}${path}`),
          `${folder.replace(/(?<!\/)\/+$/, '')}-not/a.txt`,
          folder.replace(/(?<!\/)\/+$/, ''),
          'hopgate.yaml',
          './hopgate.yaml',
          'deep/hopgate.yaml',
          ...(specs === 'default' ? [] : [`${specs}/a.yaml`, `${specs}-not/a.yaml`]),
        ]
      : [];
  return [...NOWHERE, ...CREDENTIALS, ...mask.flatMap(maskedBy), 'elsewhere/a.txt', ...granted].filter(
    (path, at, all) => all.indexOf(path) === at,
  );
}

const folderOf = (writePath: string): string =>
  /\.[a-z0-9]+$/i.test(writePath) ? '' : `${writePath.replace(/(?<!\/)\/+$/, '')}/`;

/** Paths that a mask hides: at the root, deep in the tree, inside a masked folder, in other letter case. */
function maskedBy(mask: string): readonly string[] {
  const bare = mask
    .replaceAll('**/', '')
    .replaceAll('*', 'x')
    .replace(/(?<!\/)\/+$/, '');
  const deep = mask.includes('/') && !mask.startsWith('**/') ? [] : [`a/.b/${bare}`];
  return [bare, ...deep, `${bare}/beneath`, bare.toUpperCase()];
}
