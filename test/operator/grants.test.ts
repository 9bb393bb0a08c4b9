import { describe, expect, it } from 'vitest';
import { answerIfUnanswered, listPendingRequests } from '../../src/operator/answer-request.ts';
import { type GrantTerms, parseTypedAnswer, toGrantLimits } from '../../src/operator/grant-terms.ts';
import { ensureOperatorToken } from '../../src/operator/operator-token.ts';
import { pendingApprover } from '../../src/operator/pending-approver.ts';
import { revokeGrant, whoRevokedGrant } from '../../src/operator/revoked-grants.ts';
import { readAnswerFile, requestOf, stateFolder, writeAnswerFile } from './support.ts';

const HOUR = 60 * 60_000;
const changed = { view: { changes: { 'src/a.ts': null, 'app/[id].tsx': null } } };

describe('the limits of a grant', () => {
  it.each<[GrantTerms, object]>([
    [{}, { until: HOUR }],
    [
      { times: 3, minutes: 90, testsPass: true },
      { until: 1.5 * HOUR, uses: 3, testsPass: true },
    ],
    [{ files: true }, { until: HOUR, files: ['src/a.ts', 'app/?id].tsx'] }],
    [{ files: ['.', '!dist/'] }, { until: HOUR, files: ['.', '!dist/'] }],
  ])('are computed from the terms %j', (terms, limits) => {
    expect(toGrantLimits(terms, changed, 0)).toEqual(limits);
  });

  it.each<[GrantTerms, object, RegExp]>([
    [{ minutes: 1441 }, changed, /at most 24 hours/],
    [{ minutes: Number.NaN }, changed, /at most 24 hours/],
    [{ times: 1.5 }, changed, /1 to 1000 requests/],
    [{ files: ['src/'] }, changed, /app\/\[id\]\.tsx is changed/],
    [{ files: ['../x'] }, changed, /is not a path inside the root/],
    [{ files: true }, { view: {} }, /no file is changed/],
  ])('are refused: %j', (terms, request, problem) => {
    expect(toGrantLimits(terms, request as never, 0)).toEqual({ problem: expect.stringMatching(problem) });
  });

  it.each<[string, ReturnType<typeof parseTypedAnswer>]>([
    ['', null],
    ['maybe', null],
    ['YES', { verdict: 'yes' }],
    ['no 3x', { verdict: 'no' }],
    ['yes 3x, 2h tests files', { verdict: 'yes', terms: { times: 3, minutes: 120, testsPass: true, files: true } }],
    ['y src/ *.md 5m', { verdict: 'yes', terms: { minutes: 5, files: ['src/', '*.md'] } }],
    ['yes please', { problem: expect.stringContaining('"please" is not a limit') as never }],
  ])('are read from a typed answer: %j', (text, answer) => {
    expect(parseTypedAnswer(text)).toEqual(answer);
  });
});

describe('a grant in an answer', () => {
  it('reaches the session, and does not count if the answer was changed after it was signed', async () => {
    const stateDir = stateFolder();
    const approver = pendingApprover({ stateDir, root: '/repo' });
    const answerWith = async () => {
      await approver.approve(requestOf());
      const [item] = listPendingRequests(stateDir);
      const grant = { until: Date.now() + HOUR, uses: 2 };
      answerIfUnanswered(
        stateDir,
        item!.pending,
        { verdict: 'yes', by: 'mary', minutes: 5, grant },
        ensureOperatorToken(stateDir),
      );
      return item!.pending.request.hash;
    };
    await answerWith();
    expect(await approver.approve(requestOf())).toMatchObject({ by: 'mary', grant: { uses: 2 } });
    const hash = await answerWith();
    const signed = JSON.parse(readAnswerFile(stateDir, hash));
    writeAnswerFile(stateDir, hash, JSON.stringify({ ...signed, grant: { ...signed.grant, uses: 3 } }));
    expect(await approver.approve(requestOf())).toHaveProperty('pending');
  });

  it('is revoked permanently, in the name of the first person who revoked it', () => {
    const stateDir = stateFolder();
    expect(whoRevokedGrant(stateDir, '../g')).toBeNull();
    revokeGrant(stateDir, '../g', 'mary');
    revokeGrant(stateDir, '../g', 'bob');
    expect(whoRevokedGrant(stateDir, '../g')).toBe('mary');
    expect(whoRevokedGrant(stateDir, 'h')).toBeNull();
  });
});
