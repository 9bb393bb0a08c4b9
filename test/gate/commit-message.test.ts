import { expect, it } from 'vitest';
import { commandRefusalReason } from '../../src/audit/rules/commands/audited-command.ts';
import { commandProblem } from '../../src/gate/commands/judge-command.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import type { Json } from '../../src/spec/types.ts';
import { fixtureSpecs } from './views.ts';

/** The decision of the gate on a commit, which is also the audit's. */
function judge(sub: string, args: Json | undefined, message: string | null): string {
  const call = {
    tool: fixtureSpecs.tools['bash-git']!,
    args: { sub, ...(args === undefined ? {} : { args }) },
    scope: { read: 'none', write: [], command: 'deploy', url: 'none' } as const,
    config: { ...DEFAULT_PROJECT_CONFIG, git: { remote: 'origin', branch: 'main' } },
    root: '/r',
    unsafeNoSandbox: false,
    message,
  };
  const problem = commandProblem(call);
  expect(commandRefusalReason(call) === null).toBe(problem === null);
  return problem?.refusal.message ?? 'granted';
}

const REFUSED = 'This is not the commit message that was approved.';

const MESSAGES = [
  'fix: x',
  '--force',
  '-m',
  '=x',
  'it\'s "quoted"',
  '$(id) `id` ; rm -rf / | cat > x & #',
  '# no comment',
  'a\nb\n\nc: d',
  'ünï 日本 🎉',
  '\\n\\t\\\\',
];

it.each(MESSAGES)('a commit with the message %j is allowed if this message or none was approved', (text) => {
  const quoted = `'${text.replaceAll("'", "'\\''")}'`;
  for (const approved of [text, null]) {
    for (const args of [['-m', text], ['-a', `-m${text}`], [`--message=${text}`], ['--message', text], `-m ${quoted}`])
      expect(judge('commit', args, approved)).toBe('granted');
    expect(judge(`git commit -am ${quoted}`, undefined, approved)).toBe('granted');
  }
  for (const args of [['-m', text], [`--message=${text}`], `-m ${quoted}`])
    expect(judge('commit', args, `${text}!`)).toBe(REFUSED);
});

it.each<[approved: string, args: string[], decision: string]>([
  ['a\n\nb', ['-m', 'a', '-m', 'b'], 'granted'],
  ['a\n\nb', ['-ma', '--message=b'], 'granted'],
  ['a', ['-m', 'a', '-m', 'b'], REFUSED],
  ['a\n\nb', ['-m', 'b', '-m', 'a'], REFUSED],
  ['\n a  \r\n\n\n\nb\n\n', ['-m', ' a\n\nb'], 'granted'],
  ['a b', ['-m', 'a  b'], REFUSED],
  ['x', ['-m=x'], REFUSED],
  ['a', ['-a'], 'granted'],
])(
  'after an approval of the message %j, the arguments %j are judged by the message that git would store',
  (approved, args, decision) => {
    expect(judge('commit', args, approved)).toBe(decision);
  },
);
