import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteWord, readTextCommand } from '../../../src/adapters/core/language/text-command.ts';
import { depth } from '../../depth.ts';

describe('a line of an agent', () => {
  it.each<readonly [line: string, read: object | null]>([
    ['> open cabinet 1', { kind: 'world', command: 'open cabinet 1' }],
    ['move apple 1 to fridge 1', { kind: 'world', command: 'move apple 1 to fridge 1' }],
    ['> bell joe "Opening it now"', { kind: 'bell', to: 'joe', message: 'Opening it now' }],
    ['bell @joe "say \\"hi\\"\\n\\\\"', { kind: 'bell', to: 'joe', message: 'say "hi"\n\\' }],
    ['whistle codex "Where is it?"', { kind: 'whistle', to: 'codex', message: 'Where is it?' }],
    ['hop-out "Need to clarify goal with Joe"', { kind: 'hop-out', reason: 'Need to clarify goal with Joe' }],
    [
      'bell joe "Opening it',
      { kind: 'unreadable', why: 'the closing quote is missing; write: bell joe "the message"' },
    ],
    ['bell joe', { kind: 'unreadable', why: 'the quotes are missing; write: bell joe "the message"' }],
    [
      'bell joe "a" b',
      { kind: 'unreadable', why: 'something follows the closing quote; write: bell joe "the message"' },
    ],
    ['bell joe "\\x"', { kind: 'unreadable', why: expect.stringContaining('a backslash escapes only') }],
    ['hop-out ""', { kind: 'unreadable', why: 'the quotes are empty; write: hop-out "the reason"' }],
    // Talk about a bell is not a bell.
    ['I could bell joe "Opening it now"', null],
    ['bell joe about it', null],
    ['The bell rang.', null],
    ['"bell joe "x""', null],
    ['Bell joe "x"', null],
    ['hop-out because I am stuck', null],
    ['go to cabinet 1\nbell joe "x"', null],
    ['bell joe; rm "x"', null],
    ['', null],
  ])('is read as a command, as talk, or as an error: %j', (line, read) => expect(readTextCommand(line)).toEqual(read));

  it('with a quoted message is read as the same message', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.constantFrom('bell', 'whistle'), (message, kind) => {
        fc.pre(message.trim() !== '' && !/\r/.test(message));
        expect(readTextCommand(`${kind} joe ${quoteWord(message)}`)).toEqual({ kind, to: 'joe', message });
      }),
      { numRuns: 2_000 },
    );
  });

  it('is a message only if it begins with the command’s word and ends with a quotation mark', () => {
    const piece = fc.constantFrom(
      'bell',
      'whistle',
      'hop-out',
      'joe',
      '"',
      '\\',
      ' ',
      'x',
      '\n',
      '>',
      '@',
      'look',
      "'",
      '`',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
        (line) => {
          const read = readTextCommand(line);
          if (read === null || read.kind === 'world' || read.kind === 'unreadable') return;
          expect(line.trim()).toMatch(/^(?:>\s*)?(?:bell|whistle|hop-out)\s*\S.*"$/);
        },
      ),
      { numRuns: depth(3_000, 20_000) },
    );
  });
});
