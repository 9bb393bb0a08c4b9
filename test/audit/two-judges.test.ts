import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyToAuditState } from '../../src/audit/rules/apply-to-audit-state.ts';
import { initialAuditState } from '../../src/audit/rules/audit-state.ts';
import { computeObservedFruit, isFileChange, observedValue } from '../../src/audit/rules/audited-observations.ts';
import { isWithinPaths, isWritablePath, resolvePathInRoot } from '../../src/audit/rules/audited-path.ts';
import { commandRefusalReason } from '../../src/audit/rules/commands/audited-command.ts';
import { splitSimpleCommand } from '../../src/audit/rules/commands/audited-words.ts';
import { computeEntryContext } from '../../src/audit/rules/entry-problems.ts';
import { isMaskedPath, isProtectedPath } from '../../src/audit/rules/protected-paths.ts';
import { RULE_PROBLEM_CODES } from '../../src/audit/rules/rule-problem.ts';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import { splitWords } from '../../src/base/text.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import { isCommitName } from '../../src/gate/commands/git-command.ts';
import { splitCommand } from '../../src/gate/commands/split-command.ts';
import { DENIAL_CODES } from '../../src/gate/denial.ts';
import { mayShipBranch } from '../../src/gate/scope/branch-patterns.ts';
import { isPathWithinAny, locatePath } from '../../src/gate/scope/locate-path.ts';
import { isMaskedByConfig, isWriteProtected } from '../../src/gate/scope/masks.ts';
import { mayHoldWritablePath, writePathReason } from '../../src/gate/scope/write-paths.ts';
import { transferContext } from '../../src/gate/transfer-context.ts';
import { changedPathsIn } from '../../src/session/state/observations.ts';
import { DEFAULT_MASKS } from '../../src/spec/policy/default-masks.ts';
import { OBSERVED_EFFECT_KINDS } from '../../src/spec/policy/effect-ops.ts';
import { GIT_SUB_COMMANDS } from '../../src/spec/policy/git-commands.ts';
import { MAX_FILES_IN_SESSION_LOG, MAX_FRUIT_FILES, MAX_PATH_BYTES } from '../../src/spec/policy/limits.ts';
import {
  GIT_CREDENTIAL_FILES,
  GIT_HEAD_FILE,
  HOPGATE_PACKAGE_PATHS,
  PROTECTED_FILE_NAMES,
} from '../../src/spec/policy/protected-names.ts';
import { SESSION_IDENTITY_FIELDS } from '../../src/spec/policy/reserved-fields.ts';
import type { Json, ProjectConfig } from '../../src/spec/types.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { depth } from '../depth.ts';
import { answering, CONFIG, SPECS, world } from './audited-session.ts';

const OTHER_MASKS = splitWords(`
  secrets/ a/b /config/keys **/x/** *.{key,p12} [ab]*.txt ?b a:b .env.!(*example|dist) [x]*.key d/[x]/{a} s*key a?pem
  {1..3}b !a !src/** !*.key !secrets/a !**/d/** !.env
`);
const spelled = (name: string) =>
  fc.constantFrom(
    ...[name, name.toUpperCase(), `${name}.`, `${name} . `, `${name}::$DATA`, `${name}:a`, `${name}x`, `x${name}`],
    ...[
      `${name.slice(0, 2)}\u200d${name.slice(2)}`,
      name.replace('.', '．'),
      `${name}~`,
      `.${name}.swp`,
      `#${name}#`,
      `${name}.bak~`,
      name.slice(1),
      ` ${name}`,
    ],
  );
const listed = fc
  .constantFrom(
    ...PROTECTED_FILE_NAMES,
    ...HOPGATE_PACKAGE_PATHS.map((names) => names.join('/')),
    GIT_HEAD_FILE,
    '.git/config',
    GIT_CREDENTIAL_FILES.anywhere,
    'git~1',
    'GIT~12',
    'git~',
    ...GIT_CREDENTIAL_FILES.inGit.map((name) => `.git/modules/${name}`),
  )
  .chain(spelled);
const masked = fc
  .constantFrom(
    ...DEFAULT_MASKS,
    ...OTHER_MASKS,
    ...splitWords('.env.local .env.example .env.sample.b a/.aws/credentials xb cacert.pem a.key'),
  )
  .chain((mask) =>
    spelled(
      mask
        .replace(/^!|\/$/g, '')
        .replace('**/', 'd/')
        .replaceAll('*', 'k')
        .replace(/\{([^,}]*)[^}]*\}/g, '$1'),
    ),
  );
const name = fc.oneof(fc.constantFrom('a', 'src', 'b.txt', '...', 'naïve', 'ﬁ', '.x'), fc.string({ maxLength: 4 }));
const relative = fc
  .array(fc.oneof(name, listed, masked), { minLength: 1, maxLength: 4 })
  .map((names) =>
    names
      .join('/')
      .split('/')
      .filter((each) => !['', '.', '..'].includes(each))
      .join('/'),
  )
  .filter((path) => path !== '');
const asked = fc.oneof(
  relative,
  relative.map((path) => `./${path}`),
  relative.map((path) => `/repo/${path}`),
  relative.map((path) => `x/../../repo/${path}`),
  fc.constantFrom(
    '',
    '.',
    '..',
    '/',
    '/etc/passwd',
    'a/..',
    'a/../..',
    '../repo',
    '../repository/a',
    'a\0b',
    'a\u0085b',
    'a\u00a0b',
  ),
  fc
    .tuple(
      fc.constantFrom('', './', 'a/'),
      fc.constantFrom('file', 'FiLe', 'files', 's3+x', '3s', ''),
      fc.constantFrom(':', ':/', '://', '::'),
    )
    .map((parts) => `${parts.join('')}x`),
  fc.integer({ min: MAX_PATH_BYTES / 2 - 2, max: MAX_PATH_BYTES / 2 + 2 }).map((length) => 'é'.repeat(length)),
  fc.integer({ min: MAX_PATH_BYTES - 2, max: MAX_PATH_BYTES + 2 }).map((length) => 'a'.repeat(length)),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(null, 3, [], {}),
);

const gitReason = (args: { readonly [name: string]: Json }, config: ProjectConfig) =>
  commandRefusalReason({
    tool: SPECS.tools['bash-git']!,
    args,
    scope: { read: 'none', write: [], command: 'deploy', url: 'none' },
    config,
    root: '/repo',
    unsafeNoSandbox: false,
    message: null,
  });
/** Sub-commands that need a path, a branch or a message. */
const NEEDS_MORE = ['add', 'switch', 'checkout', 'commit'];

describe('the gate and the audit agree', () => {
  it('on which paths are protected', () =>
    fc.assert(
      fc.property(relative, (path) => {
        expect([path, isProtectedPath(path)]).toEqual([path, isWriteProtected(path)]);
      }),
      { numRuns: depth(1000, 3000) },
    ));

  it('on each protected name, in each spelling, at each depth', () => {
    const names = [...PROTECTED_FILE_NAMES, ...HOPGATE_PACKAGE_PATHS.map((own) => own.join('/'))];
    for (const each of names)
      for (const path of [each, `deep/er/${each}`, `${each}/beneath`, each.toUpperCase(), `${each}.`, `${each}::$DATA`])
        expect([path, isWriteProtected(path), isProtectedPath(path)]).toEqual([path, true, true]);
    expect([isWriteProtected(`a/${GIT_HEAD_FILE}`), isProtectedPath(`a/${GIT_HEAD_FILE}`)]).toEqual([true, true]);
  });

  it('on which paths are masked', () =>
    fc.assert(
      fc.property(
        relative,
        fc.oneof(
          fc.constant([...DEFAULT_MASKS]),
          fc.shuffledSubarray([...DEFAULT_MASKS.slice(0, 9), ...OTHER_MASKS], { maxLength: 8 }),
        ),
        (path, masks) => {
          expect([path, isMaskedPath(path, masks)]).toEqual([path, isMaskedByConfig(path, masks)]);
        },
      ),
      { numRuns: depth(1000, 3000) },
    ));

  it('on the location and the greatest length of a path', () =>
    fc.assert(
      fc.property(asked, (text) => {
        const gate = locatePath('/repo', text);
        const audit = resolvePathInRoot('/repo', text);
        expect([text, audit.inside ? audit.path || '.' : null]).toEqual([text, gate.ok ? gate.path : null]);
      }),
      { numRuns: depth(1000, 3000) },
    ));

  it('on which paths are in a scope', () =>
    fc.assert(
      fc.property(
        relative,
        fc.array(fc.oneof(relative, fc.constantFrom('.', 'src/', './a')), { maxLength: 3 }),
        (path, places) => {
          expect(isWithinPaths(path, places)).toBe(isPathWithinAny(places, path));
        },
      ),
      { numRuns: 2000 },
    ));

  it('on which paths a scope allows to write, with globs and exclusions', () => {
    const part = fc.constantFrom(
      '*',
      '**',
      'src',
      's*',
      '*.go',
      '[ab]',
      '?',
      '{src,b.txt}',
      'a',
      '...',
      '[id]',
      '(a)',
      '.',
    );
    const pattern = fc
      .tuple(
        fc.constantFrom('', '', '', '!', '!/', './', '/'),
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '/'),
      )
      .map(([before, parts, after]) => `${before}${parts.join('/')}${after}`);
    const file = fc.oneof(
      fc
        .array(fc.constantFrom('src', 'a', 'b', 'x.go', 'SRC', '.x', '*', '[id]', 'i', '(a)', 'b.txt', 'a~'), {
          minLength: 1,
          maxLength: 4,
        })
        .map((names) => names.join('/')),
      relative,
    );
    const granted = { yes: 0, no: 0 };
    fc.assert(
      fc.property(file, fc.array(pattern, { maxLength: 4 }), (path, write) => {
        const grants = isWritablePath(path, write);
        granted[grants ? 'yes' : 'no']++;
        expect([path, write, writePathReason(path, write) === null]).toEqual([path, write, grants]);
        // A command's changes are only looked for in folders that may hold such a file.
        const folders = path.split('/').map((_, at, names) => names.slice(0, at + 1).join('/'));
        if (grants && !folders.some((folder) => isMaskedByConfig(folder, [])))
          expect([path, write, folders.every((folder) => mayHoldWritablePath(folder, write))]).toEqual([
            path,
            write,
            true,
          ]);
      }),
      { numRuns: depth(2000, 6000) },
    );
    expect(Math.min(granted.yes, granted.no)).toBeGreaterThan(depth(150, 500));
  });

  it('on which context fields no caller sets, and which are missing', () => {
    const field = fc.constantFrom(...SESSION_IDENTITY_FIELDS, 'commit-message', 'target-files', 'x');
    const fields = fc.dictionary(field, fc.constantFrom('a', 'b', null, '', ' \n', '\u200b', [], false));
    fc.assert(
      fc.property(fields, fields, fc.constantFrom(...Object.values(SPECS.peripherals)), (backpack, given, target) => {
        const view = { sessionId: 's', backpack, fruits: { edit: backpack } };
        const gate = transferContext(target, view, given);
        const audit = computeEntryContext(target, view, given);
        expect([audit.context, audit.missing]).toEqual([gate.context, gate.missing.map((one) => one.field)]);
      }),
    );
  });

  it('on the codes of denials', () => {
    expect(RULE_PROBLEM_CODES.filter((code) => !DENIAL_CODES.includes(code))).toEqual([]);
  });

  it('on the number of files that a fruit and a session remember', async () => {
    const files = Array.from({ length: MAX_FILES_IN_SESSION_LOG + 10 }, (_, index) => `src/${index}.ts`);
    const effects = files.map((path) => ({ path, op: 'modify' as const }));
    const backend = answering();
    const run: typeof backend.run = async (call) => ({ ...(await backend.run(call)), effects });
    const at = await world({ backend: { ...backend, run } });
    await at.session.start('explore');
    await at.session.setMode({ to: 'diagnose' });
    await at.session.step({ tool: 'read', args: ['src/a.ts'] });
    const state = initialAuditState(at);
    for await (const { entry } of at.store.entries(at.session.id))
      applyToAuditState(state, entry, toBody(entry.body), Date.parse(entry.at));
    expect(state.files.size).toBe(MAX_FILES_IN_SESSION_LOG);
    expect(observedValue(state.visit!.observations, 'changed-files')).toHaveLength(MAX_FRUIT_FILES);
    expect(at.session.state.here?.observed).toEqual(
      computeObservedFruit(SPECS.peripherals['explore']!, state.visit!.observations),
    );
  });

  it('on observations of a list that is stored as a blob', async () => {
    const files = Array.from({ length: 2000 }, (_, index) => `src/a-folder-with-a-long-name/${index}.ts`);
    const at = await world({ backend: scriptedBackend({ glob: () => ({ files }) }) });
    await at.session.start('explore');
    await at.session.setMode({ to: 'diagnose' });
    await at.session.step({ tool: 'glob', args: { pattern: '*' } });
    const stopped = await at.session.stop('enough');
    expect(stopped.ok && Object.values(stopped.fruit).flat()).toContain(files[0]);
    const { violations } = await verifyConstraints(at, at.store.entries(at.session.id));
    expect(violations).toEqual([]);
  });

  it('on which effects change a file', () => {
    for (const op of OBSERVED_EFFECT_KINDS)
      expect([op, isFileChange({ path: 'a', op })]).toEqual([op, changedPathsIn([{ path: 'a', op }]).length === 1]);
  });

  it('on which branches may be created and pushed', () => {
    const part = fc.constantFrom('*', '**', 'agent', 'a*', '*x', 'a*b*c', 'main', 'A');
    const pattern = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    const branch = fc
      .array(fc.constantFrom('agent', 'a', 'ab', 'abc', 'x', 'ax', 'axbxc', 'main', 'Main', 'A', '[ab]', '*', 'HEAD'), {
        minLength: 1,
        maxLength: 4,
      })
      .map((names) => names.join('/'))
      .filter((name) => name !== 'HEAD');
    const allowed = { yes: 0, no: 0 };
    fc.assert(
      fc.property(fc.oneof(pattern, fc.array(pattern, { maxLength: 3 })), branch, (patterns, name) => {
        const git = { remote: 'origin', branch: patterns };
        const may = mayShipBranch(name, git) && isCommitName(name);
        allowed[may ? 'yes' : 'no']++;
        for (const [sub, args] of [
          ['push', ['origin', name]],
          ['switch', ['-c', name]],
          ['checkout', ['-b', name]],
          ['branch', [name]],
        ] as const) {
          const why = gitReason({ sub, args: [...args] }, { ...CONFIG, git });
          expect([patterns, sub, name, why === null]).toEqual([patterns, sub, name, may]);
        }
      }),
      { numRuns: depth(1000, 3000) },
    );
    expect(Math.min(allowed.yes, allowed.no)).toBeGreaterThan(depth(60, 200));
  });

  it('on the words of a command line', () => {
    const part = fc.constantFrom(
      ...[
        'a',
        'b=',
        '=',
        '~',
        '#',
        '{',
        '}',
        ',',
        '..',
        '!',
        'if',
        'in',
        ']]',
        'export',
        'x=1',
        '\\',
        '\\\n',
        '"',
        "'",
      ],
      ...[
        ' ',
        ' ',
        '\t',
        '\n',
        '\r',
        '$',
        '`',
        '|',
        '&',
        ';',
        '<',
        '(',
        ')',
        '*',
        '?',
        '[',
        ']',
        'é',
        '\u00a0',
        '2',
        ':',
      ],
    );
    const split = { yes: 0, no: 0 };
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        const gate = splitCommand(text);
        split[gate.ok ? 'yes' : 'no']++;
        expect([text, splitSimpleCommand(text)]).toEqual([text, gate.ok ? gate.words : null]);
      }),
      { numRuns: depth(3000, 100_000) },
    );
    expect(Math.min(split.yes, split.no)).toBeGreaterThan(300);
  });

  it('on which git commands are known', () => {
    for (const sub of [...Object.keys(GIT_SUB_COMMANDS), 'rebase', 'config', 'filter-branch', 'toString'])
      expect([sub, gitReason({ sub }, CONFIG)?.code !== 'invalid-action' || NEEDS_MORE.includes(sub)]).toEqual([
        sub,
        Object.hasOwn(GIT_SUB_COMMANDS, sub),
      ]);
  });
});
