import { expect, it } from 'vitest';
import { describeValue } from '../../src/view/describe-value.ts';
import { summariseValue } from '../../src/view/summarise-value.ts';

it.each([
  [
    { observation: 'You open the fridge 1.\n\nIn it, you see nothing.', text: '[ALFWorld] …' },
    'You open the fridge 1. In it, you see nothing.',
  ],
  [{ text: 'Sent.\n' }, 'Sent.'],
  [{ text: 'one\n\ttwo' }, 'one two'],
  [
    { exit: 0, stdout: '\u001b[32mOn branch\u001b[0m main\r\nclean\u001b[2J\n' },
    'exit 0: On branch main clean\\u{1b}[2J',
  ],
  [
    { verdict: 'fail', exit: 6, noNetwork: 'There is no network here.' },
    'verdict fail, exit 6, no report; There is no network here.',
  ],
  [
    { verdict: 'fail', exit: 1, runs: [{ command: ['make', 'test'], verdict: 'fail' }], masked: 'Empty here: .env.' },
    'verdict fail: make test fail; Empty here: .env.',
  ],
  [
    { verdict: 'error', exit: 0, reportProblem: 'the run changed a.lock', remedy: 'commit it' },
    'verdict error, exit 0, no report: the run changed a.lock; commit it',
  ],
  [{ verdict: 'pass', exit: 0, noNetwork: 'There is no network here.' }, 'verdict pass, exit 0, no report'],
  [
    { exit: 4, dropped: [{ path: '.benchmarks', why: 'x' }], notShown: 'The module yaml is not installed here.' },
    'dropped: .benchmarks (x); exit 4: The module yaml is not installed here.',
  ],
  [{ path: 'src/a.ts', text: 'one\ntwo' }, 'src/a.ts: 2 lines'],
  [{ path: 'src/a.ts', text: 'one\n\n' }, 'src/a.ts: 2 lines'],
  [{ path: 'src/a.ts', text: '' }, 'src/a.ts: 0 lines'],
  [{ entries: { blob: 'c5930a82', bytes: 33467 }, next: null, total: 52 }, 'entries: 33467 bytes, kept as c5930a82'],
  [{ status: 'answered', run: 'run.e-1', waitedMs: 5, response: 'looks\nfine' }, 'answered: looks fine'],
  [
    { status: 'answered', waitedMs: 5, response: { blob: 'a'.repeat(64), bytes: 2 } },
    'answered: 2 bytes, kept as aaaaaaaaaaa…',
  ],
  [{ status: 'answered', waitedMs: 5, message: 'm-1', answer: { id: 'm-2', text: 'port 80' } }, 'answered: port 80'],
  [{ path: 'src/a.ts', bytes: 1, created: true }, 'created, 1 byte'],
  [{ path: 'src/a.ts', bytes: 0, created: false }, 'overwritten, 0 bytes'],
  [{ message: 'm-1', to: 'agent:codex', seq: 1, act: 'assert', sentAt: '2026-01-01T00:00:00Z' }, 'sent to agent:codex'],
  [{ job: '1', running: true, stdout: 'ready\n', stderr: '' }, 'job 1 is running: ready'],
  [{ job: '1', running: false, exit: 0, stdout: '', stderr: '' }, 'exit 0'],
  [{ query: 'test', from: 'built-in', candidates: [{ id: 'reproduce-first' }] }, '1 pattern: reproduce-first'],
  [{ pattern: 'reproduce-first', kind: 'selection', title: '…' }, 'reproduce-first is selected'],
  [{ pattern: 'reproduce-first', psr: 'e-1', outcome: 'success', held: true }, 'reproduce-first: success'],
  [{ pattern: 'of an own tool', size: 3 }, '{"pattern":"of an own tool","size":3}'],
  [{ status: 'waiting', waitedMs: 5, note: 'The run continues.' }, 'The run continues.'],
])('a result is described in one line by its own fields: %j', (value, line) => expect(describeValue(value)).toBe(line));

it('a summary shows invisible characters of a text, a list and the names of fields', () => {
  for (const value of ['\u202ea', ['\u202ea'], [{ path: '\u202ea' }], { '\u202ea': 1 }])
    expect(summariseValue(value)).toBe('\\u{202e}a');
});
