import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyMessage, type MessageTalkKind } from '../../src/social/classify-message.ts';
import { TALK_PATTERNS } from '../../src/social/talk-patterns.ts';
import type { Json } from '../../src/spec/types.ts';

interface Labelled {
  readonly payload: Json;
  readonly talk: MessageTalkKind;
  readonly typed: boolean;
}

const [SEEN = '', UNSEEN = ''] = readFileSync('test/social/labelled-messages.txt', 'utf8').split(/^# Not in view.*$/m);
const read = (text: string): readonly Labelled[] =>
  text
    .split('\n')
    .filter((line) => /^[AC] /.test(line))
    .map((line) => {
      const text = line.slice(2);
      const typed = text.startsWith('{');
      return {
        payload: typed ? JSON.parse(text) : text,
        talk: line.startsWith('A') ? 'action' : 'coordination',
        typed,
      };
    });
/** The messages from which the patterns were written. */
const IN_VIEW = read(SEEN);
/** Messages that were not used to write the patterns. */
const HELD_OUT = read(UNSEEN);
const LABELLED = [...IN_VIEW, ...HELD_OUT];

/** `action→coordination`: how often an action was taken for coordination. */
function confusion(messages: readonly Labelled[], patterns = TALK_PATTERNS) {
  const matrix: Record<string, number> = {};
  for (const { payload, talk } of messages) {
    const cell = `${talk}→${classifyMessage(payload, patterns).talk}`;
    matrix[cell] = (matrix[cell] ?? 0) + 1;
  }
  return matrix;
}

describe('the classifier of messages', () => {
  it('has at least 200 labelled messages of both kinds', () => {
    expect(LABELLED.length).toBeGreaterThanOrEqual(200);
    expect(LABELLED.filter(({ talk }) => talk === 'action').length).toBeGreaterThan(80);
  });

  it('has these confusion matrices: for messages that the patterns were written from, for others, and without patterns', () => {
    expect({
      inView: confusion(IN_VIEW),
      heldOut: confusion(HELD_OUT),
      bare: confusion(LABELLED, []),
    }).toEqual({
      inView: { 'action→action': 366, 'coordination→action': 2, 'coordination→coordination': 439 },
      heldOut: {
        'action→action': 32,
        'action→coordination': 7,
        'coordination→action': 2,
        'coordination→coordination': 39,
      },
      bare: { 'action→action': 405, 'coordination→action': 475, 'coordination→coordination': 7 },
    });
  });

  it('judges at least one message in ten differently without its patterns, but no typed payload', () => {
    const changed = LABELLED.filter(
      ({ payload }) => classifyMessage(payload, TALK_PATTERNS).talk !== classifyMessage(payload, []).talk,
    );
    expect(changed.length / LABELLED.length).toBeGreaterThan(0.1);
    expect(changed.filter(({ typed }) => typed)).toEqual([]);
  });

  it('judges an object only by its fields', () =>
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (payload) => {
        expect(classifyMessage(payload as Json, TALK_PATTERNS)).toEqual(classifyMessage(payload as Json, []));
      }),
    ));

  it('terminates on long texts', () => {
    const long = `${'please could you '.repeat(900)}fix it`;
    classifyMessage(long, TALK_PATTERNS);
    classifyMessage('a, '.repeat(5_000), TALK_PATTERNS);
    classifyMessage('"'.repeat(16_000), TALK_PATTERNS);
  });

  it('names the requested effect: observe for “look”, act for “look and fix”', () => {
    expect(classifyMessage('Look at the log.', TALK_PATTERNS)).toMatchObject({ talk: 'action', asks: 'observe' });
    expect(classifyMessage('Look at the log and fix the cause.', TALK_PATTERNS)).toMatchObject({ asks: 'act' });
  });
});
