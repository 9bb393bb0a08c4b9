import { expect, it } from 'vitest';
import * as hopgate from '../src/index.ts';
import { Session } from '../src/session/session.ts';

// Literals on purpose: what others build on changes only in the commit that means it.

it('exports these names', () => {
  expect(Object.keys(hopgate).toSorted()).toEqual([
    'DENIAL_CODES',
    'ProjectError',
    'SpecError',
    'StoreError',
    'decide',
    'guards',
    'loadSpecs',
    'memoryStore',
    'openSession',
    'runAndVerify',
    'runChain',
    'sqliteStore',
    'transferContext',
    'validateHop',
    'verifyConstraints',
  ]);
});

it('refuses for these reasons', () => {
  expect(hopgate.DENIAL_CODES).toEqual([
    'unknown-tool',
    'tool-not-allowed',
    'invalid-action',
    'out-of-scope',
    'mode-forbids',
    'mode-not-allowed',
    'summary-required',
    'no-peripheral',
    'already-active',
    'hop-not-allowed',
    'exit-not-met',
    'entry-not-met',
    'condition-failed',
    'approval-required',
    'approval-invalid',
    'missing-context',
    'invalid-fruit',
    'limit-reached',
    'sandbox-unavailable',
    'agent-not-allowed',
    'session-closed',
    'session-busy',
    'lease-expired',
  ]);
});

it('a session has these methods', () => {
  expect(Object.getOwnPropertyNames(Session.prototype).toSorted()).toEqual([
    'admit',
    'attach',
    'available',
    'close',
    'conclude',
    'config',
    'constructor',
    'detach',
    'evidence',
    'hop',
    'id',
    'root',
    'setMode',
    'settle',
    'specs',
    'start',
    'state',
    'step',
    'stop',
    'tool',
    'wants',
    'why',
  ]);
});
