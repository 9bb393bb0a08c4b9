import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readClaudeTranscript } from '../../../src/adapters/claude-code/claude-transcript.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopgate-own-'));
  file = join(folder, 'c.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const line = (role: string, ...content: object[]) =>
  `${JSON.stringify({ type: role, timestamp: '2026-11-22T08:00:00.000Z', message: { role, content } })}\n`;
const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} });
const result = (tool_use_id: string, content: unknown = 'done', is_error?: boolean) => ({
  type: 'tool_result',
  tool_use_id,
  content,
  ...(is_error === undefined ? {} : { is_error }),
});

describe('the transcript of Claude Code', () => {
  it('contains the agent’s words and the calls that ran', () => {
    writeFileSync(
      file,
      [
        line('assistant', { type: 'text', text: 'I look.' }, use('a', 'Read'), use('b', 'Bash')),
        line('user', result('a'), result('b', [{ type: 'text', text: 'Exit code 3\nno' }], true)),
      ].join(''),
    );
    const { texts, ran } = readClaudeTranscript(file);
    expect(texts).toEqual(['I look.']);
    expect(ran.map(({ id, tool }) => [id, tool])).toEqual([
      ['a', 'Read'],
      ['b', 'Bash'],
    ]);
  });

  it('omits calls that never ran and calls without effects', () => {
    const names = ['Write', 'NoSuch', 'TodoWrite'];
    const errors = ['PreToolUse:Write hook error: no', '<tool_use_error>Error: No such tool</tool_use_error>'];
    writeFileSync(
      file,
      [
        line('assistant', ...names.map((name, index) => use(String(index), name)), use('open', 'Edit')),
        line('user', ...names.map((_, index) => result(String(index), errors[index], index < 2))),
      ].join(''),
    );
    expect(readClaudeTranscript(file).ran).toEqual([]);
  });

  it('omits writes of plan files and reads of saved tool results, also for a sub-agent', () => {
    const saved = join(file.replace(/\.jsonl$/, ''), 'tool-results', 'b1.txt');
    const plan = join(dirname(dirname(dirname(file))), 'plans', 'p.md');
    const calls = line(
      'assistant',
      { ...use('p', 'Write'), input: { file_path: plan } },
      { ...use('a', 'Read'), input: { file_path: saved } },
      { ...use('b', 'Read'), input: { file_path: join(folder, 'b1.txt') } },
    );
    writeFileSync(file, calls + line('user', result('p'), result('a'), result('b')));
    expect(readClaudeTranscript(file).ran.map(({ id }) => id)).toEqual(['b']);
    const agent = join(file.replace(/\.jsonl$/, ''), 'subagents', 'agent-1.jsonl');
    mkdirSync(dirname(agent), { recursive: true });
    writeFileSync(agent, calls + line('user', result('a'), result('b')));
    expect(readClaudeTranscript(agent).ran.map(({ id }) => id)).toEqual(['b']);
  });

  it('is read from the last position, and an unfinished line is left for later', () => {
    const next = line('assistant', { type: 'text', text: 'two' });
    writeFileSync(file, line('assistant', { type: 'text', text: 'one' }) + next.slice(0, 20));
    const first = readClaudeTranscript(file);
    expect(first.texts).toEqual(['one']);
    appendFileSync(file, next.slice(20));
    expect(readClaudeTranscript(file, first.end).texts).toEqual(['two']);
  });

  it('is empty if the file is missing or unreadable', () => {
    expect(readClaudeTranscript(join(folder, 'none'))).toEqual({ texts: [], ran: [], end: 0 });
    writeFileSync(file, 'null\n[]\n{"message":7}\n{"message":{"role":"user","content":[null,4]}}\n');
    expect(readClaudeTranscript(file)).toMatchObject({ texts: [], ran: [] });
    expect(readClaudeTranscript(folder)).toMatchObject({ texts: [], ran: [] });
  });
});
