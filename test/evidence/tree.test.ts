import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EntryDraft } from '../../src/evidence/entry.ts';
import { renderThread } from '../../src/evidence/tree.ts';
import { draftsOf } from './arbitraries.ts';
import { draft, opening } from './drafts.ts';

const START = Date.parse('2026-01-31T09:00:00.000Z');
/** An entry `ms` after the start; it replies to the one named, if one is. */
const said = (id: string, ms: number, claim: EntryDraft['claim'], body: EntryDraft['body'], inReplyTo?: string) =>
  draft({ id, at: new Date(START + ms).toISOString(), claim, body, ...(inReplyTo === undefined ? {} : { inReplyTo }) });

describe('renderThread', () => {
  it('tells a session line by line', () => {
    const approval = {
      event: 'approval',
      record: { by: 'ops', via: 'terminal' },
      request: { action: { kind: 'hop', from: 'edit', exit: 'done', to: 'deploy' } },
    };
    const thread = [
      opening('s-1'),
      said(
        '1',
        10,
        'step',
        { event: 'mode', from: 'discuss', to: 'diagnose', how: 'transition', by: 'agent' },
        's-1-open',
      ),
      said('2', 20, 'goal', { event: 'start', peripheral: 'edit', by: 'operator' }, '1'),
      said('3', 1500, 'step', { event: 'step', tool: 'read', args: { path: 'a.ts' }, outcome: { status: 'ok' } }, '2'),
      said('4', 65_000, 'observation', { event: 'denial', code: 'out-of-scope', message: 'b.ts lies outside' }, '3'),
      said('5', 66_000, 'step', { event: 'intent', tool: 'write', args: { path: 'a.ts' } }, '3'),
      said(
        '6',
        66_100,
        'evidence',
        { event: 'outcome', tool: 'write', outcome: { status: 'failed', code: 'no-space', message: 'disk full' } },
        '5',
      ),
      said('7', 67_000, 'step', { event: 'intent', tool: 'bash', args: ['ls', '-l'] }, '6'),
      said('8', 68_000, 'evidence', { event: 'interrupted', tool: 'bash', reason: 'the writer ended' }, '7'),
      said(
        '9',
        3_700_000,
        'conclusion',
        { event: 'stop', peripheral: 'edit', exit: 'done', reason: 'all good', fruit: { n: 1 } },
        '8',
      ),
      said('10', 3_700_001, 'step', approval, '9'),
      said(
        '11',
        3_700_002,
        'step',
        { event: 'hop', from: 'edit', to: 'deploy', exit: 'done', reason: 'ship', by: 'agent' },
        '10',
      ),
      said('12', 3_700_003, 'observation', { event: 'session-closed', reason: 'enough', by: 'operator' }, '11'),
    ];
    expect(`\n${renderThread(thread)}\n`).toBe(`
     +0.000s  goal         session opened by agent-1, pin ffffffffffff
     +0.010s  step         mode discuss → diagnose
     +0.020s  goal         start edit · asked by operator
     +1.500s  step         read a.ts → ok
   +1:05.000  observation  ├─ denied (out-of-scope): b.ts lies outside
   +1:06.000  step         intends write a.ts
   +1:06.100  evidence     write → failed no-space: disk full
   +1:07.000  step         intends bash ls -l
   +1:08.000  evidence     bash interrupted: the writer ended
+1:01:40.000  conclusion   stop edit by exit done: all good · fruit {"n":1}
+1:01:40.001  step         approval of edit → deploy by ops via terminal
+1:01:40.002  step         hop edit → deploy by exit done: ship
+1:01:40.003  observation  session closed: enough · asked by operator
`);
  });

  it('indents what hangs beneath an earlier reply, and comes back', () => {
    const note = (id: string, to?: string) => said(id, 0, 'step', { event: 'interrupted', tool: id }, to);
    const lines = renderThread([
      note('a'),
      note('b', 'a'),
      note('c', 'b'),
      note('d', 'b'),
      note('e', 'c'),
      note('f', 'a'),
    ]);
    expect(lines.split('\n').map((line) => line.slice('+0.000s  step  '.length))).toEqual([
      'a interrupted',
      '├─ b interrupted',
      '│  ├─ c interrupted',
      '│  │  e interrupted',
      '│  d interrupted',
      'f interrupted',
    ]);
  });

  it('shows entries without their parent as trees of their own, and says so', () => {
    const lines = renderThread([
      said('x', 0, 'step', 'free words', 'gone'),
      said('y', 1, 'step', null, 'z'),
      said('z', 2, 'step', 1, 'y'),
    ]);
    expect(lines.split('\n')).toEqual([
      '+0.000s  step  coordination free words (replies to gone, which is not shown before it)',
      '+0.001s  step  coordination null (replies to z, which is not shown before it)',
      '+0.002s  step  coordination 1',
    ]);
  });

  it('is one line per entry, whatever agents write, and shows long text short', () => {
    const wild = said('x', 0, 'step', { event: 'start', peripheral: 'a\nb\u202e\u001b[31m\u2028' });
    expect(renderThread([wild])).toBe('+0.000s  step  start a\\nb\\u{202e}\\u{1b}[31m\\u{2028}');
    const long = said('x', 0, 'step', { event: 'start', peripheral: '🙂'.repeat(500) });
    expect(renderThread([long])).toBe(`+0.000s  step  start ${'🙂'.repeat(100)}…`);
    fc.assert(
      fc.property(draftsOf('s-1'), (drafts) => {
        const lines = renderThread(drafts).split(/[\n\r\u2028\u2029]/);
        expect(lines).toHaveLength(drafts.length);
      }),
    );
  });

  it('bears long sessions', () => {
    const chain = Array.from({ length: 20_000 }, (_, n) =>
      said(`${n}`, n, 'step', n, n === 0 ? undefined : `${n - 1}`),
    );
    expect(renderThread(chain).split('\n')).toHaveLength(20_000);
    expect(renderThread([])).toBe('');
  });
});
