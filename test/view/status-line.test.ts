import { expect, it } from 'vitest';
import { formatStatusLine, type StatusLineData } from '../../src/view/status-line.ts';

const status: StatusLineData = {
  sessionId: 's-1',
  agent: 'a',
  closed: false,
  peripheral: 'explore',
  mode: 'diagnose',
  tests: 'stale',
  observeOnly: false,
  waiting: 2,
};

it.each([
  [status, 'explore · DIAGNOSE · tests stale · 2 waiting'],
  [{ ...status, tests: null, waiting: 0 }, 'explore · DIAGNOSE'],
  [{ ...status, peripheral: null, mode: null, tests: 'passed', waiting: 0 } as const, 'no peripheral · tests passed'],
  [{ ...status, closed: true }, 'session closed'],
  [null, 'no session'],
])('a status line has one short line for each status: %j', (given, line) =>
  expect(formatStatusLine(given, false)).toBe(line),
);

it('a status line escapes and shortens names', () => {
  const peripheral = `a\u001b]2;x\u0007\n\u202e${'b'.repeat(5000)}`;
  const line = formatStatusLine({ ...status, peripheral }, true);
  expect(line.length).toBeLessThan(150);
  expect(line.replaceAll(/\u001b\[\d+m/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
