import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { isCommitName } from '../../src/gate/commands/git-command.ts';
import { parseGit, toGitOptionWords } from '../../src/gate/commands/parse-git.ts';
import { splitCommand } from '../../src/gate/commands/split-command.ts';
import { judgeUrl } from '../../src/gate/scope/judge-url.ts';
import { isPathWithinAny, locatePath } from '../../src/gate/scope/locate-path.ts';
import { isWriteProtected } from '../../src/gate/scope/masks.ts';
import { GIT_SUB_COMMANDS } from '../../src/spec/policy/git-commands.ts';
import { peelToCommit } from '../../src/tools/git/operands.ts';
import { isPublicAddress } from '../../src/tools/web/public-address.ts';
import { descriptorAnchors } from '../../src/tools/workspace/anchors.ts';
import { parsePathArgument } from '../../src/tools/workspace/path-argument.ts';
import { walkPathBeneath } from '../../src/tools/workspace/walk-beneath.ts';

/** A property that must hold for every input. Throws if it does not. */
export interface Fuzz {
  readonly name: string;
  /** The share of all inputs that test this property. */
  readonly share: number;
  property(): fc.IProperty<[unknown]>;
}

const ROOT = '/srv/repo';
const pathPart = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '..',
      '.',
      '',
      'src',
      'repo',
      'repo-evil',
      '~',
      'a:',
      'file:',
      '.git',
      '.GIT',
      'HEAD',
      'git~1',
      '.env',
      '-',
      'a b',
    ),
  },
  { weight: 2, arbitrary: fc.string({ maxLength: 6 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom('\0', '\n', '\u202e', '%2e%2e', '\\', '..\\', '\ud800', 'ﬀ', '․․') },
);
const path = fc
  .tuple(
    fc.constantFrom('', '/', './', '//', `${ROOT}/`, `${ROOT}-evil/`, `${ROOT}/../`),
    fc.array(pathPart, { maxLength: 8 }),
  )
  .map(([start, parts]) => start + parts.join('/'));

const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

const judgedPaths: Fuzz = {
  name: 'a path that is let through lies beneath the root, and both judges see the same place',
  share: 5,
  property: () =>
    fc.property(path, (text) => {
      const byGate = locatePath(ROOT, text);
      const byTool = parsePathArgument(ROOT, 'path', text);
      if (!('segments' in byTool)) return;
      must(
        !byTool.segments.some((name) => name === '..' || name === '.' || name === '' || name.includes('/')),
        'segments',
      );
      must(!/[\0-\x1f\x7f]/.test(byTool.segments.join('/')), 'a control character');
      must(byGate.ok, `the tool takes what the gate refuses: ${JSON.stringify(text)}`);
      must(byGate.ok && byGate.path === (byTool.segments.join('/') || '.'), 'they differ about the place');
    }) as fc.IProperty<[unknown]>,
};

const scopes: Fuzz = {
  name: 'nothing is within a scope by the letters of its name alone, and no spelling hides .git',
  share: 2,
  property: () =>
    fc.property(fc.tuple(path, fc.constantFrom('src', 'src/', './src', 'a b/')), ([text, scope]) => {
      const located = locatePath(ROOT, text);
      if (!located.ok) return;
      const base = scope.replace(/^\.\//, '').replace(/\/$/, '');
      const inside = located.path.split('/').slice(0, base.split('/').length).join('/') === base;
      must(isPathWithinAny([scope], located.path) === inside, `${located.path} in ${scope}`);
      const folded = located.path.split('/').some((name) => name.toLowerCase() === '.git' || name === 'git~1');
      must(!folded || isWriteProtected(located.path), located.path);
    }) as fc.IProperty<[unknown]>,
};

/** A tree with links of every kind; the walk of each path must end within its root. */
function linkedTree(): { readonly root: string; readonly outside: ReadonlySet<string> } {
  const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'hopgate-fuzz-')));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'repo');
  fs.mkdirSync(join(root, 'a/b/c'), { recursive: true });
  fs.mkdirSync(join(folder, 'out/a/b'), { recursive: true });
  for (const file of ['repo/f', 'repo/a/f', 'repo/a/b/f', 'out/f', 'out/a/f', 'f'])
    fs.writeFileSync(join(folder, file), file);
  const links: readonly (readonly [string, string])[] = [
    ['up', '..'],
    ['a/up', '../..'],
    ['a/out', '../../out'],
    ['a/b/abs', join(folder, 'out')],
    ['in', 'a/b'],
    ['a/b/back', '../../a'],
    ['a/self', '.'],
    ['abs-in', join(root, 'a')],
    ['loop', 'a/loop'],
    ['a/loop', '../loop'],
    ['proc', '/proc/self/root'],
    ['fd', `/proc/self/fd/0`],
    ['file', 'a/f'],
    ['a/c', 'b/../../in/../b/up2'],
    ['a/b/up2', '../../../out/f'],
  ];
  for (const [link, to] of links) fs.symlinkSync(to, join(root, link));
  const outside = new Set(
    [folder, join(folder, 'out'), join(folder, 'out/f'), join(folder, 'out/a'), join(folder, 'f'), '/'].map(
      (p) => `${fs.statSync(p).dev}:${fs.statSync(p).ino}`,
    ),
  );
  return { root, outside };
}

const walks: Fuzz = {
  name: 'a walk over links of every kind never takes hold of anything outside',
  share: 2,
  property: () => {
    const { root, outside } = linkedTree();
    const name = fc.constantFrom(
      'a',
      'b',
      'c',
      'f',
      'up',
      'out',
      'abs',
      'in',
      'back',
      'self',
      'abs-in',
      'loop',
      'proc',
      'fd',
      'file',
      'up2',
      'repo',
      'new',
      '..',
    );
    return fc.property(fc.array(name, { maxLength: 9 }), (segments) => {
      const place = walkPathBeneath(root, segments, descriptorAnchors);
      if (!('real' in place)) return;
      try {
        const held = place.kind === 'missing' ? place.parent : place.anchor;
        must(!outside.has(`${held.stat.dev}:${held.stat.ino}`), `outside: ${segments.join('/')}`);
        must(
          place.real.every((each) => each !== '..' && each !== '.'),
          'an unresolved name',
        );
        const there = fs.realpathSync(held.path);
        must(there === root || there.startsWith(`${root}/`), `outside: ${segments.join('/')} is ${there}`);
      } finally {
        place.close();
      }
    }) as fc.IProperty<[unknown]>;
  },
};

const word = fc.oneof(
  fc.constantFrom(
    '--',
    '-',
    '-m',
    '-am',
    '--force',
    '--force=x',
    '-f',
    '--output=x',
    '--upload-pack=x',
    '-c',
    'core.pager=x',
    '--exec-path=/',
    '-C',
    'HEAD',
    'HEAD:x',
    '..',
    'main..',
    '+main',
    ':main',
    'ext::sh',
    '-5',
    '-uno',
    '--pretty=%H',
    '--no-index',
  ),
  fc.string({ maxLength: 8 }),
  fc.string({ maxLength: 6 }).map((text) => `--${text}`),
  fc.string({ maxLength: 4 }).map((text) => `-${text}`),
);

const gitWords: Fuzz = {
  name: 'git gets no option that is not in the table, whatever the words',
  share: 4,
  property: () =>
    fc.property(
      fc.tuple(
        fc.constantFrom(...Object.keys(GIT_SUB_COMMANDS), 'config', 'clone', '__proto__'),
        fc.array(word, { maxLength: 7 }),
      ),
      ([sub, words]) => {
        const judged = parseGit([sub, ...words]);
        if (!judged.ok) return;
        const { parsed } = judged;
        for (const built of toGitOptionWords(parsed.options)) {
          const name = /^--([^=]*)/.exec(built)?.[1];
          const listed = parsed.spec.options.some((option) =>
            name === undefined ? built.slice(1).startsWith(option.short ?? '\0') : option.long === name,
          );
          must(listed, `${sub} ${built}`);
        }
        must(
          !parsed.operands.some((operand) => operand.startsWith('-') && operand !== '-'),
          `an operand with a dash: ${parsed.operands.join(' ')}`,
        );
        must(
          [...parsed.operands, ...parsed.paths].every((each) => words.includes(each)),
          'a word that nobody wrote',
        );
      },
    ) as fc.IProperty<[unknown]>,
};

const revisions: Fuzz = {
  name: 'a word that counts as the name of a commit names nothing else',
  share: 1,
  property: () =>
    fc.property(fc.oneof(word, fc.stringMatching(/^[\w./~^@{}:-]{0,12}$/)), (text) => {
      const peeled = peelToCommit(text);
      if (isCommitName(text)) must(/^[A-Za-z0-9][\w./~^-]*$/.test(text) && !text.includes('..'), text);
      if (peeled !== null) must(!peeled.startsWith('-') && !/[\s:\0]|@\{/.test(peeled), text);
    }) as fc.IProperty<[unknown]>,
};

const shellText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ' ',
        "'",
        '"',
        '\\',
        '$',
        '`',
        '|',
        '&',
        ';',
        '<',
        '>',
        '(',
        ')',
        '{',
        '}',
        '*',
        '?',
        '[',
        ']',
        '~',
        '#',
        '\n',
        '=',
        '!',
        '$(',
        '${',
        '<<',
        '\t',
        '\0',
      ),
      fc.string({ maxLength: 3 }),
      fc.constantFrom('a', 'git', 'log', '-m'),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

const commandLines: Fuzz = {
  name: 'a command line is split only where a shell would find plain words in it',
  share: 3,
  property: () =>
    fc.property(shellText, (text) => {
      const split = splitCommand(text);
      if (!split.ok) return;
      // Without its quoted parts and escaped characters, the text contains nothing that a shell interprets.
      const bare = text.replace(/\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\$`])*"/g, '');
      must(!/[$`|&;<>()*?\n]/.test(bare.trim()), `${JSON.stringify(text)} became ${JSON.stringify(split.words)}`);
    }) as fc.IProperty<[unknown]>,
};

const allow = ['docs.example.com', '*.sub.example.com', 'other.example.com:8443'];
const hostText = fc.oneof(
  fc.constantFrom(
    'docs.example.com',
    'a.sub.example.com',
    'sub.example.com',
    'evil.com',
    '127.0.0.1',
    '[::1]',
    '0x7f.1',
    '2130706433',
    'DOCS.example.com.',
    'docs.example.com.evil.com',
    'docs。example。com',
    'xn--docs',
    'docs%2eexample.com',
  ),
  fc.webAuthority({ withPort: true, withUserInfo: true, withIPv4: true, withIPv6: true }),
  fc.string({ maxLength: 10 }),
);
const url = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'https://',
        'http://',
        'HTTPS://',
        'https:',
        'https:/',
        'https:\\\\',
        'file://',
        '//',
        'ftp://',
        '',
      ),
      fc.constantFrom('', 'user@', 'docs.example.com@', 'a:b@', '@'),
      hostText,
      fc.constantFrom('', ':80', ':443', ':8443', ':22', ':0', ':99999'),
      fc.constantFrom('', '/', '/x?y#z', '\\@evil.com', '@evil.com', '\r\nX: y', '?@evil.com', '#@evil.com'),
    )
    .map((parts) => parts.join('')),
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
);

const urls: Fuzz = {
  name: 'an address that is let through is one of a listed host, at a listed port, without a user',
  share: 2,
  property: () =>
    fc.property(url, (text) => {
      const verdict = judgeUrl(text, allow);
      must(!judgeUrl(text, []).ok, 'an empty list let something through');
      if (!verdict.ok) return;
      const { judged } = verdict;
      const { hostname, protocol, username, password, port } = new URL(judged.url.href);
      must(/^https?:$/.test(protocol) && username === '' && password === '', text);
      must(hostname.replace(/\.$/, '') === judged.host, `${text} is read as ${hostname} and ${judged.host}`);
      const plain =
        port === '' && (judged.host === 'docs.example.com' || /^[^.].*\.sub\.example\.com$/.test(judged.host));
      must(
        plain || (judged.host === 'other.example.com' && judged.port === 8443),
        `${text} is ${judged.host}:${judged.port}`,
      );
    }) as fc.IProperty<[unknown]>,
};

const addresses: Fuzz = {
  name: 'no private address counts as public, however it is written',
  share: 1,
  property: () =>
    fc.property(
      fc.oneof(
        fc
          .tuple(
            fc.constantFrom('10', '127', '0', '192.168', '169.254', '172.16', '172.31', '100.64', '224', '255'),
            fc.ipV4(),
          )
          .map(([start, rest]) => [...start.split('.'), ...rest.split('.')].slice(0, 4).join('.')),
        fc.ipV4().map((ip) => `::ffff:${ip}`),
        fc.ipV4().map((ip) => `64:ff9b::${ip}`),
        fc.constantFrom(
          'fe80::1%eth0',
          '::',
          '::1',
          'fc00::1',
          'fd12::',
          'ff02::1',
          '2002:7f00:1::',
          '1.2.3.4.5',
          'localhost',
          '',
        ),
      ),
      (address) => must(!isPublicAddress(address), address),
    ) as fc.IProperty<[unknown]>,
};

export const FUZZES: readonly Fuzz[] = [judgedPaths, scopes, walks, gitWords, revisions, commandLines, urls, addresses];
