import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judgeByUserRules } from '../../../src/adapters/codex/codex-user-rules.ts';
import { sample } from '../../depth.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopgate-rules-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (path: string, text: string, mode = 0o600): string => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text, { mode });
  return join(folder, path);
};
/** A double of Codex that writes down its arguments and prints an answer. */
const codex = (answer: string): string =>
  put(
    'codex',
    `#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\nprintf '%s\\0' "$@" > ${folder}/words\n${answer}\n`,
    0o700,
  );
const says = (decision: string) =>
  `echo '{"matchedRules":[{"prefixRuleMatch":{"decision":"${decision}"}}],"decision":"${decision}"}'`;
const ruled = (command: string, program = codex(says('forbidden'))) =>
  judgeByUserRules(command, () => program, join(folder, 'repo'), { CODEX_HOME: join(folder, 'home') });

describe('the user’s rules for Codex', () => {
  beforeEach(() => put('home/rules/mine.rules', 'prefix_rule(pattern=["rm"], decision="forbidden")\n'));

  const PLAIN = [
    'rm -rf x',
    "  git commit -m 'a b; c'  ",
    'echo "a b"c\'d\' --x=1',
    'a/b.sh @1 %2 +3 :4',
    '"r"m x',
    "git log '--format=%h\n%s'",
  ];
  it.each(sample(PLAIN, 4))('are applied to the words that a shell makes of %j', async (command) => {
    expect(await ruled(command)).toMatchObject({ decision: 'forbidden' });
    const words = execFileSync('bash', ['--norc', '-c', `set -- ${command}\nprintf '%s\\0' "$@"`], {
      encoding: 'utf8',
    });
    expect(execFileSync('cat', [join(folder, 'words')], { encoding: 'utf8' })).toBe(words);
  });

  it.each([
    'ls; rm x',
    'ls\nrm x',
    'A=1 rm x',
    'r\\m x',
    '$(rm x)',
    '"$x" y',
    '{rm,x}',
    '~/rm x',
    'rm*',
    'rm x > y',
    'command rm x',
    '! rm x',
    '(rm x)',
    'rm x &',
    '"a`rm x`"',
    'rm\u00a0x',
    '#',
    "rm 'x",
  ])('ask the person if the words of %j are uncertain', async (command) => {
    expect(await ruled(command)).toMatchObject({ decision: 'prompt', why: expect.stringContaining('plain words') });
  });

  it.each(['exit 1', 'echo', 'echo {}', `echo '{"matchedRules":[],"decision":"maybe"}'`])(
    'ask the person if Codex gives no answer: %s',
    async (answer) => {
      expect(await ruled('rm x', codex(answer))).toMatchObject({
        decision: 'prompt',
        why: expect.stringContaining('cannot apply'),
      });
    },
  );

  it('allow a command that they allow or do not mention', async () => {
    expect(await ruled('rm x', codex(says('allow')))).toBeNull();
    expect(await ruled('rm x', codex(`echo '{"matchedRules":[]}'`))).toBeNull();
  });

  it.each(['approval_policy = "never"', 'approval_policy = { granular = { rules = false } }'])(
    'refuse a command that they would ask about under %s',
    async (config) => {
      put('home/config.toml', config);
      expect(await ruled('rm x', codex(says('prompt')))).toMatchObject({ decision: 'forbidden' });
    },
  );
});

it('Codex is not asked if no rule denies or asks', async () => {
  expect(await ruled('ls; rm x', '/nowhere')).toBeNull();
  put('home/rules/default.rules', '# mine\n\nprefix_rule(pattern=["ls", "-l"], decision="allow")\n');
  expect(await ruled('ls; rm x', '/nowhere')).toBeNull();
  put('repo/.codex/rules/more.rules', 'prefix_rule(pattern=["rm"], decision="al" + "low")\n');
  expect(await ruled('ls; rm x', '/nowhere')).toMatchObject({ decision: 'prompt' });
});
