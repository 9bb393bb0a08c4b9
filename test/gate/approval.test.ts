import { describe, expect, it } from 'vitest';
import { APPROVAL_VERSION, approvalHash, approvalProblem } from '../../src/gate/approvals/approval.ts';
import { approvalRows } from '../../src/gate/approvals/approval-rows.ts';
import { decide } from '../../src/gate/decide.ts';
import type { SessionView } from '../../src/gate/session-view.ts';
import { APPROVAL_FIELD_TITLES } from '../../src/spec/policy/approval-fields.ts';
import { contextOf, grantFor, viewOf, visitTo } from './views.ts';

const wanted = { sessionId: 's', requestHash: 'h' };

describe('approvalProblem', () => {
  it('accepts exactly the approved request, until the approval expires', () => {
    expect(approvalProblem(grantFor('h'), wanted, 1999, ['other'])).toBeNull();
  });
  it.each<[string, Parameters<typeof grantFor>[1], number, string[]]>([
    ['the approval was given for another session', { sessionId: 't' }, 0, []],
    ['the approval was given for another request (the hash differs)', { requestHash: 'H' }, 0, []],
    ['the approval has expired', {}, 2000, []],
    ['the approval was used before; an approval is valid once', {}, 0, ['n-1']],
  ])('reports: %s', (problem, grant, now, used) => {
    expect(approvalProblem(grantFor('h', grant), wanted, now, used)).toBe(problem);
  });
});

describe('the hash of an approval request', () => {
  const subject = {
    sessionId: 's',
    action: { kind: 'mode' as const, from: 'diagnose', to: 'execute' },
    reason: 'r',
    view: { a: 1, b: 2 },
  };
  it('does not depend on the order of keys', () => {
    expect(approvalHash({ ...subject, view: { b: 2, a: 1 } })).toBe(approvalHash(subject));
    expect(approvalHash(subject)).toMatch(/^[0-9a-f]{64}$/);
  });
  it('contains version 3 for these titles; a new title needs a new version', () => {
    const titles = Object.values(APPROVAL_FIELD_TITLES);
    expect({ version: APPROVAL_VERSION, titles }).toEqual({
      // biome-ignore format: docs/extend/approval.md changes this line
      ...{ version: 3, titles: ['fruit', 'context', 'changes', 'findings', 'changed test files', 'args', 'files', 'command', 'install', 'locks', 'exit criteria', 'summary', 'tested', 'ships'] },
    });
  });
  it('changes with every part of the request', () => {
    const others = [
      { ...subject, sessionId: 't' },
      { ...subject, reason: '' },
      { ...subject, view: { a: 1 } },
      { ...subject, action: { ...subject.action, to: 'discuss' } },
      { ...subject, action: { kind: 'hop' as const, from: 'diagnose', exit: 'x', to: 'execute' } },
    ];
    expect(new Set([subject, ...others].map(approvalHash)).size).toBe(6);
  });
});

describe('an approval of a hop', () => {
  const ready: Partial<SessionView> = {
    visit: visitTo('test', { observedFruit: { result: 'pass', 'test-count': 3, failures: [] } }),
    tests: { passed: true, count: 1, failed: 0 },
    fruits: { edit: { 'commit-message': 'Change a' } },
    changes: { 'src/a.ts': 'a'.repeat(64) },
  };
  const ship = { kind: 'hop' as const, to: 'deploy', exit: 'pass', reason: 'all pass', by: 'agent' as const };
  const asked = (view: SessionView, request = ship) => {
    const decision = decide(contextOf(view), request);
    if (decision.ok || !decision.wanted) throw new Error('no approval is wanted');
    return decision.wanted;
  };
  it('shows the fruit, the context and the changes', () => {
    expect(asked(viewOf(ready)).subject).toEqual({
      sessionId: 's',
      action: { kind: 'hop', from: 'test', exit: 'pass', to: 'deploy' },
      reason: 'all pass',
      view: {
        fruit: { result: 'pass', 'test-count': 3, failures: [] },
        context: { 'session-id': 's', 'commit-message': 'Change a' },
        changes: { 'src/a.ts': 'a'.repeat(64) },
      },
    });
  });
  it('shows an object in an argument with its names, and an install command by its values', () => {
    const transfers = [{ from: 'a', to: 'b' }];
    const install = [{ run: 'npm ci', hosts: 'from no host', scripts: 'with scripts of packages off' }];
    expect(approvalRows({ view: { args: { transfers, names: ['a', 'b'] }, install } })).toEqual([
      ['args.transfers', '{"from":"a","to":"b"}'],
      ['args.names', 'a\nb'],
      ['install', 'npm ci from no host with scripts of packages off'],
    ]);
  });
  it('shows findings and changed test files apart from the other changes', () => {
    const findings = { 'package.json': 'a package manager runs the commands in this file' };
    const changes = { 'src/a.ts': 'a', 'test/a.test.ts': null };
    expect(asked(viewOf({ ...ready, findings, changes })).subject.view).toMatchObject({
      changes,
      findings,
      'changed test files': ['test/a.test.ts'],
    });
  });
  it.each<[string, Partial<SessionView>, object]>([
    ['the session', { sessionId: 't' }, {}],
    ['the fruit', { visit: visitTo('test', { observedFruit: { result: 'pass', 'test-count': 4, failures: [] } }) }, {}],
    ['the commit message', { fruits: { edit: { 'commit-message': 'Change b' } } }, {}],
    ['what was changed', { changes: { 'src/a.ts': 'b'.repeat(64) } }, {}],
    ['one more file', { changes: { 'src/a.ts': 'a'.repeat(64), 'src/b.ts': null } }, {}],
    ['a finding', { findings: { 'src/a.ts': 'it is executable' } }, {}],
    ['the reason', {}, { reason: 'because' }],
  ])('is not valid if %s differs from the approved one', (_name, some, request) => {
    const approval = grantFor(asked(viewOf(ready)).hash);
    expect(decide(contextOf(viewOf(ready)), { ...ship, approval }).ok).toBe(true);
    const other = decide(contextOf(viewOf({ ...ready, ...some })), { ...ship, ...request, approval });
    expect(other).toMatchObject({ ok: false, denial: { code: 'approval-invalid' } });
  });
  it('is not requested while anything else is missing', () => {
    for (const some of [
      { tests: { passed: false, count: 1, failed: 0 } },
      { fruits: {} },
      { visit: visitTo('test', { observedFruit: { result: 'fail' } }) },
      { closed: true },
    ])
      expect(decide(contextOf(viewOf({ ...ready, ...some })), ship)).toMatchObject({ ok: false, wanted: null });
  });
});
