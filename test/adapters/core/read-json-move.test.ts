import fc from 'fast-check';
import { expect, it } from 'vitest';
import { looksLikeJsonMove, readJsonMove } from '../../../src/adapters/core/language/read-json-move.ts';

it.each<[string, ReturnType<typeof readJsonMove>]>([
  [
    '{"hop": "edit", "reason": "found target file"}',
    { name: 'hop', input: { hop: 'edit', reason: 'found target file' } },
  ],
  [
    '\n {"hop":"reflect","reason":"close","summary":"done"}\n',
    { name: 'hop', input: { hop: 'reflect', reason: 'close', summary: 'done' } },
  ],
  [
    'I am done.\n\n```json\n{"hop": "edit", "reason": "x"}\n```\n',
    { name: 'hop', input: { hop: 'edit', reason: 'x' } },
  ],
  ['```\n{"tool": "read", "args": {"path": "a"}}\n```', { name: 'read', input: { path: 'a' } }],
  ['{"tool": "bash-test"}', { name: 'bash-test', input: {} }],
  ['{"name": "grep", "arguments": {"pattern": "x"}}', { name: 'grep', input: { pattern: 'x' } }],
  ['{"name": "grep", "input": {"pattern": "x"}}', { name: 'grep', input: { pattern: 'x' } }],
  ['{"mode": "diagnose", "reason": "to look"}', { name: 'mode', input: { to: 'diagnose', reason: 'to look' } }],
  ['{"hop": {"to": "edit", "reason": "x"}}', { name: 'hop', input: { to: 'edit', reason: 'x' } }],
  ['{"mode": {"to": "discuss"}}', { name: 'mode', input: { to: 'discuss' } }],
  ['{"name": "read", "arguments": "{\\"path\\": \\"a\\"}"}', { name: 'read', input: { path: 'a' } }],
  [
    '{"type": "function", "function": {"name": "read", "arguments": "{\\"path\\": \\"a\\"}"}}',
    { name: 'read', input: { path: 'a' } },
  ],
  ['{"function": {"name": "read", "parameters": {"path": "a"}}}', { name: 'read', input: { path: 'a' } }],
  // None of these is a move.
  ['{"name": "read", "arguments": "a"}', null],
  ['{"name": "read", "arguments": "[1]"}', null],
  ['{"function": "read"}', null],
  ['{"hop": ["edit"]}', null],
  ['Let me send {"hop": "edit", "reason": "x"} now.', null],
  ['{"hop": "edit", "reason": "x"} and more', null],
  ["{'hop': 'edit'}", null],
  ['{"hop": "edit",}', null],
  ['{"hop": 7}', null],
  ['[{"hop": "edit"}]', null],
  ['```json\n{"hop": "edit"}\n```\n```json\n{"hop": "test"}\n```', null],
  ['```json\n{"hop": "edit"}\n', null],
  ['```yaml\n{"hop": "edit"}\n```', null],
  ['> ```json\n> {"hop": "edit"}\n> ```', null],
  ['```json\n{"hop": "edit"}\n```\n\n```', null],
  ['{"tool": "read", "args": ["a"]}', null],
  ['{"tool": ""}', null],
  ['{}', null],
  ['null', null],
  ['hop to edit', null],
  ['', null],
])('%j is read as a call', (text, move) => expect(readJsonMove(text)).toEqual(move));

it('any written move reads back unchanged, and no text throws', () => {
  fc.assert(fc.property(fc.string(), (text) => void readJsonMove(text)));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string({ minLength: 1 }), (args, tool) => {
      expect(readJsonMove(JSON.stringify({ tool, args }))).toEqual({
        name: tool,
        input: JSON.parse(JSON.stringify(args)),
      });
    }),
  );
});

it.each([
  ['{"tool": "read", "args": "a"}', true],
  ['{"hop": "edit", "reason": "x"', true],
  ['I go.\n```json\n{ "hop": edit }\n```', true],
  ['{"done": true}', false],
  ['I would send {"hop": "edit"} now.', false],
  ['Ready.', false],
])('%j counts as an attempted call: %s', (text, yes) => expect(looksLikeJsonMove(text)).toBe(yes));
