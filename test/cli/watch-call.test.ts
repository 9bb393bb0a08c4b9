import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { escapeTerminalLine } from '../../src/base/text.ts';
import type { Io } from '../../src/cli/io.ts';
import { showCallProgress } from '../../src/cli/run/watch-call.ts';
import { lastFailureLines } from '../../src/view/describe-value.ts';
import { commitAll, machine } from './run.ts';

const NOW = { firstMs: 0, everyMs: 5 };

function terminal(isTty: boolean) {
  const printed: string[] = [];
  const stderr = new Writable({
    write(chunk, _, done) {
      printed.push(String(chunk));
      done();
    },
  });
  return { io: { stderr, isTty, color: false, json: false } as unknown as Io, printed: () => printed.join('') };
}

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((done) => setTimeout(done, 5));
};

it('a running call shows its output and time on a line of the terminal that is removed at its end', async () => {
  const { io, printed: said } = terminal(true);
  const call = showCallProgress(io, 'bash-test', NOW);
  call.onOutput?.('one\ntw');
  await until(() => said().includes('│ one'));
  expect(said()).toMatch(/bash-test, 0 s \(Ctrl-C cancels it\)/);
  expect(said()).not.toContain('tw');
  call.onOutput?.('o\u001b[2J\nrest');
  expect(call.end()).toBe(true);
  expect(said()).toContain('│ two\\u{1b}[2J\n');
  expect(said()).toContain('│ rest\n');
  expect(said().endsWith('\r\u001b[2K')).toBe(true);
});

it('a short call shows no line with its time, and without a terminal there is only a note', async () => {
  const short = terminal(true);
  const call = showCallProgress(short.io, 'x', { firstMs: 60_000, everyMs: 60_000 });
  call.onOutput?.('out\n');
  expect([call.end(), short.printed()]).toEqual([false, '']);
  const pipe = terminal(false);
  const long = showCallProgress(pipe.io, 'bash-test', NOW);
  await until(() => pipe.printed() !== '');
  expect([long.end(), pipe.printed().split('\n')[0]]).toEqual([false, 'hopgate: bash-test has been running for 0 s']);
});

it('the end of a call prints the output that was not shown in full', async () => {
  const { io, printed: said } = terminal(true);
  const call = showCallProgress(io, 'x', NOW);
  call.onOutput?.('line\n'.repeat(2000));
  await until(() => said() !== '');
  expect(call.end()).toBe(false);
});

// Colours that could hide text (the code for that, grounds, and black) and all other codes of terminals stay out.
it.each([
  ['\u001b[1;31mred\u001b[0m', '\u001b[1;31mred\u001b[0m\u001b[0m', 'red'],
  ['\u001b[92ma\tb', '\u001b[92ma\tb\u001b[0m', 'a\tb'],
  ['\u001b[8mhidden\u001b[m', 'hidden\u001b[m\u001b[0m', 'hidden'],
  ['\u001b[30;40mdark\u001b[38;5;0mer', 'darker', 'darker'],
  ['\u001b[31;8mx', 'x', 'x'],
  ['\u001b[311mx', 'x', 'x'],
  ['\u001b[\u001b[8m8mx', ...Array<string>(2).fill('\\u{1b}[8mx')],
  [
    '\u001b[2J\u001b]0;t\u0007\u001b[3\u202e1m',
    ...Array<string>(2).fill('\\u{1b}[2J\\u{1b}]0;t\\u{7}\\u{1b}[3\\u{202e}1m'),
  ],
])('the line %j is printed as %j in colour', (line, inColour, plain) => {
  expect(escapeTerminalLine(line, true)).toBe(inColour);
  expect(escapeTerminalLine(line, false)).toBe(plain);
});

it('a call is cancelled once', () => {
  const call = showCallProgress(terminal(true).io, 'x');
  expect([call.cancel(), call.signal.aborted, call.cancel()]).toEqual([true, true, false]);
  call.end();
});

it.each([
  [{ exit: 0, stdout: 'a' }, []],
  [{ exit: 0, verdict: 'fail', stdout: 'a\n\nb\n', stderr: '' }, ['a', 'b']],
  [{ exit: 1, stdout: 'x\n'.repeat(20), stderr: 'last' }, [...Array(9).fill('x'), 'last']],
  [{ exit: 1, stdout: { blob: 'a', bytes: 1 }, stderr: 'e' }, ['e']],
  [{ exit: 1, stdout: '\u001b[1m\u001b[31mFAIL\u001b[39m\ta\u001b[22m\u001b[2J' }, ['FAIL    a\u001b[2J']],
  [{ path: 'a', text: 'b' }, []],
  ['text', []],
])('the result %j has the last lines %j', (result, lines) => expect(lastFailureLines(result)).toEqual(lines));

it('a failed command shows its last lines in run and thread', async () => {
  const { root, run } = machine({
    'src/a.txt': 'a\n',
    'plan.yaml':
      'title: Fail\nagent: a\nsteps:\n  - start: explore\n  - mode: diagnose\n  - step: { tool: bash-readonly, args: ["seq 1 30; echo the cause >&2; exit 3"] }\n',
  });
  commitAll(root);
  const ran = await run('run', 'plan.yaml', '--root', root, '--yes');
  expect(ran.out).toContain('      │ 22\n');
  expect(ran.out).toContain('      │ the cause\n');
  expect(ran.out).not.toContain('│ 21\n');
  const id = /session (s-\S+)/.exec(ran.out)?.[1] ?? '';
  expect((await run('thread', id)).out).toMatch(/│ 30\n[^\n]*│ the cause/);
});
