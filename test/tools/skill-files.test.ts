import { join } from 'node:path';
import { expect, test } from 'vitest';
import { skillProblem } from '../../src/tools/skill-files.ts';
import { scratch } from './shell/support.ts';
import { config } from './shell/tool-call.ts';

const head = (more = '') => `---\nname: fix\ndescription: Fix it\n${more}---\n`;

/** The answer for the skill `fix` in a repository with these files, without skills of a user. */
const judged = (files: { readonly [path: string]: string }, call: Partial<Parameters<typeof skillProblem>[1]> = {}) => {
  const root = scratch(files);
  const whole = { skill: 'fix', args: '', isSubAgent: false, ...call };
  return skillProblem({ root, config: config() }, whole, join(root, 'user'));
};

test.each([
  [
    'a text below a head that is not YAML',
    { '.claude/skills/fix/SKILL.md': `---\ndescription: a: b\n---\nBe brief. Say \`git log\`, not more!\n` },
  ],
  ['a command file in a folder of the tree', { 'web/.claude/commands/fix.md': 'Fix $ARGUMENTS.' }],
  ['a skill of the user', { 'user/skills/fix/SKILL.md': head() }],
])('%s may be loaded', (_, files) => expect(judged(files)).toBeNull());

test.each([
  ['an embedded command', { '.claude/skills/fix/SKILL.md': 'Now: !`git status`' }, 'embeds commands'],
  ['an embedded block', { '.claude/skills/fix/SKILL.md': '```!\ngit status\n```' }, 'embeds commands'],
  ['hooks', { '.claude/skills/fix/SKILL.md': `${head('"hoo\\x6bs": { PreToolUse: [] }\n')}` }, 'brings hooks'],
  [
    'hooks in a head that is not YAML',
    { '.claude/skills/fix/SKILL.md': '---\ndescription: a: b\nhooks: x\n---\n' },
    'hooks',
  ],
  [
    'a namesake',
    { '.claude/skills/fix/SKILL.md': 'x', 'a/.claude/skills/b/SKILL.md': `${head()}!\`ls\`` },
    'a/.claude',
  ],
  ['a command of the user', { '.claude/skills/fix/SKILL.md': 'x', 'user/commands/fix.md': '!`ls`' }, 'user/commands'],
  ['an import of a masked file', { '.claude/skills/fix/SKILL.md': 'See @.env', '.env': 'x' }, 'imports'],
  ['no file', {}, 'has no file'],
])('%s is refused', (_, files, why) => expect(judged(files)).toContain(why));

test.each([head('context: fork\n'), '---\ndescription: a: b\ncontext: fork\n---\n'])(
  'a skill that starts an agent is refused to a sub-agent only: %j',
  (text) => {
    const files = { '.claude/skills/fix/SKILL.md': text };
    expect(judged(files)).toBeNull();
    expect(judged(files, { isSubAgent: true })).toContain('starts a sub-agent');
    expect(judged({ '.claude/skills/fix/SKILL.md': head() }, { isSubAgent: true })).toBeNull();
  },
);

test.each(['`ls`', 'now!', 'a! b'])('arguments that may complete a command are refused: %s', (args) => {
  expect(judged({ '.claude/skills/fix/SKILL.md': 'x' }, { skill: 'fix', args })).toContain('leave these out');
});

test.each([
  ['@.env', 'Fix $ARGUMENTS'],
  ['see "@/etc/passwd"', 'x'],
  ['etc/passwd', 'Fix @/$1'],
  ['.env', 'Fix @$ARGUMENTS'],
])('arguments that may show a file are refused: %s in %s', (args, text) => {
  expect(judged({ '.claude/skills/fix/SKILL.md': text }, { skill: 'fix', args })).toMatch(/shows? a file/);
});

test('a skill that inserts its argument may be loaded with a mail address, or without an argument', () => {
  expect(judged({ '.claude/skills/fix/SKILL.md': 'Tell $1' }, { skill: 'fix', args: 'a@example.org' })).toBeNull();
  expect(judged({ '.claude/skills/fix/SKILL.md': 'Fix @$1' })).toBeNull();
});
