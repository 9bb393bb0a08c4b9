import { appendFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentSession } from '../../../src/adapters/core/agent-session.ts';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { recordTranscript } from '../../../src/adapters/core/transcript/record-transcript.ts';
import { transcriptPath, transcriptTo } from '../../../src/adapters/core/transcript/transcript-file.ts';
import { parseTranscript, type TranscriptItem } from '../../../src/evidence/transcript.ts';
import { stage } from '../../session/sessions.ts';
import { Items, inhabit } from './inhabited-sessions.ts';

const folder = (): string => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-transcript-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
const written = (items: readonly unknown[]): string => items.map((item) => `${JSON.stringify(item)}\n`).join('');

describe('reading a transcript', () => {
  it('returns what was written', async () => {
    const { items } = await inhabit();
    expect(parseTranscript(written(items.items))).toEqual({ items: items.items, problems: [] });
  });

  it('omits an unfinished last line, and reports any other damaged line', async () => {
    const { items } = await inhabit();
    const text = written(items.items);
    expect(parseTranscript(text.slice(0, -20))).toEqual({ items: items.items.slice(0, -1), problems: [] });
    const spoiled = `{}\nnull\n{\n${text}`;
    expect(parseTranscript(spoiled).problems.map(({ line }) => line)).toEqual([1, 2, 3]);
  });

  it('returns an item or a problem for any line', () => {
    const base = { n: 0, at: '2026-01-01T00:00:00Z', source: 'agent', channel: 'x' };
    const kinds = [
      'opened',
      'offered',
      'delivered',
      'said',
      'heard',
      'call',
      'result',
      'let-go',
      'toString',
      '__proto__',
    ];
    const line = fc.oneof(
      fc.string().filter((text) => !text.includes('\n')),
      fc.json().map((text) => text.replaceAll('\n', ' ')),
      fc
        .tuple(
          fc.constantFrom(...kinds),
          fc.dictionary(
            fc.constantFrom(
              'tools',
              'text',
              'situation',
              'callId',
              'tool',
              'input',
              'outside',
              'status',
              'code',
              'evidence',
              'sessionId',
            ),
            fc.jsonValue(),
          ),
        )
        .map(([kind, fields]) => JSON.stringify({ ...base, kind, ...fields })),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { items, problems } = parseTranscript(`${lines.join('\n')}\n`);
        expect(items.length + problems.length).toBe(lines.filter((text) => text !== '').length);
        for (const item of items)
          if (item.kind === 'offered') expect(item.tools.every((tool) => typeof tool === 'string')).toBe(true);
      }),
    );
  });
});

describe('a transcript file', () => {
  it('is continued at its end, also by another process', () => {
    const file = transcriptPath(folder(), 's-1');
    const clock = { now: () => Date.UTC(2026, 0, 1) };
    const said = (text: string) => ({ kind: 'said', source: 'agent', channel: 'text', text }) as const;
    transcriptTo(file, { clock }).add(said('one'));
    appendFileSync(file, '{"n":1,"cut');
    const again = transcriptTo(file, { clock });
    again.add(said('three'));
    again.add(said('four\nlines'));
    const { items, problems } = parseTranscript(readFileSync(file, 'utf8'));
    expect(items.map((item) => [item.n, item.kind === 'said' && item.text])).toEqual([
      [0, 'one'],
      [2, 'three'],
      [3, 'four\nlines'],
    ]);
    expect(problems.map(({ line }) => line)).toEqual([2]);
  });

  it('stays in its folder for any session id', () => {
    for (const id of ['../../evil', '', '.', 'a/b', 'x'.repeat(300), '\u0000'])
      expect(transcriptPath('/state', id)).toMatch(/^\/state\/transcripts\/[0-9a-f]{64}\.jsonl$/);
    expect(transcriptPath('/state', 's-1')).toBe('/state/transcripts/s-1.jsonl');
  });

  it('never stops the work if it cannot be written', () => {
    const dir = folder();
    writeFileSync(join(dir, 'transcripts'), '');
    const errors: unknown[] = [];
    const sink = transcriptTo(transcriptPath(dir, 's-1'), { onError: (error) => errors.push(error) });
    sink.add({ kind: 'let-go', source: 'hopgate', channel: 'session' });
    expect(errors).toHaveLength(1);
  });
});

describe('a recorded session', () => {
  const kindsOf = ({ items }: Items): string[] => items.map(({ kind }) => kind);

  it('gives the same answers as the wrapped session', async () => {
    const { session } = await stage();
    const plain = agentSession(session);
    const recorded = recordTranscript(plain, new Items());
    expect(recorded.id).toBe(plain.id);
    expect(await recorded.tools()).toEqual(await plain.tools());
    expect(await recorded.allTools()).toEqual(await plain.allTools());
    expect(await recorded.prompt()).toBe(await plain.prompt());
    expect(await recorded.status()).toEqual(await plain.status());
    const refused = { name: 'read', input: { path: 'src/a.ts' } };
    expect((await recorded.call(refused)).denial?.code).toBe('no-peripheral');
    const diagnose = { name: 'mode', input: { to: 'diagnose' } };
    await recorded.call(diagnose);
    const execute = { name: 'mode', input: { to: 'execute', reason: 'x' } };
    expect(await recorded.wants(execute)).toEqual(await plain.wants(execute));
  });

  it('records the available tools once until they change', async () => {
    const { session } = await stage();
    const items = new Items();
    const agent = recordTranscript(agentSession(session), items);
    await agent.tools();
    await agent.tools();
    await session.setMode({ to: 'diagnose' });
    await session.start('explore');
    await agent.tools();
    expect(kindsOf(items)).toEqual(['opened', 'offered', 'offered']);
  });

  it('shortens long texts, and accepts any value from a model', async () => {
    const { session } = await stage();
    const items = new Items();
    const agent = recordTranscript(agentSession(session), items);
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const input of [{ path: 'x'.repeat(5000) }, undefined, cycle, 1n, 'text', [1]])
      await agent.call({ name: 'read', input });
    const inputs = items.items.flatMap((item) => (item.kind === 'call' ? [item.input] : []));
    expect(inputs[0]).toEqual({ path: `${'x'.repeat(1999)}…` });
    expect(inputs.slice(1)).toEqual([null, { self: '[cycle]' }, '[bigint 1]', 'text', [1]]);
  });

  it('records a call that threw, and throws the same error', async () => {
    const { session } = await stage();
    const broken: AgentSession = {
      ...agentSession(session),
      call: () => Promise.reject(new Error('the disk is full')),
    };
    const items = new Items();
    await expect(recordTranscript(broken, items).call({ name: 'read', input: {} })).rejects.toThrow('the disk is full');
    expect(items.items.at(-1)).toMatchObject({
      kind: 'result',
      status: 'error',
      text: 'the disk is full',
    } satisfies Partial<TranscriptItem>);
  });
});
