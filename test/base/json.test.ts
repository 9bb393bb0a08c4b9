import { expect, it } from 'vitest';
import { parseJson, parseJsonMessage } from '../../src/base/json.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

// A client's log is read whole: an agent must not hide a call from the audit by its nested arguments.
it('a message of another process is read up to 200 levels deep, any other JSON as deep as it is', () => {
  expect(parseJsonMessage(nested(200))).toEqual(JSON.parse(nested(200)));
  expect(parseJsonMessage(nested(202))).toBeUndefined();
  expect(parseJsonMessage('{')).toBeUndefined();
  expect(parseJson(nested(300))).toEqual(JSON.parse(nested(300)));
});
