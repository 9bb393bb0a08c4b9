import { expect, it } from 'vitest';
import * as hopgate from '../src/index.ts';
import { Session } from '../src/session/session.ts';

// Literals on purpose: a change of the public names must be visible in its commit.

it('the library exports exactly the listed names', () => {
  expect(Object.keys(hopgate).toSorted()).toEqual([
    'DENIAL_CODES',
    'ProjectError',
    'SpecError',
    'StoreError',
    'compileSpecs',
    'decide',
    'facts',
    'guards',
    'loadSpecs',
    'memoryStore',
    'openSession',
    'runAndVerify',
    'runChain',
    'sqliteStore',
    'toBody',
    'transferContext',
    'validateHop',
    'verifyConstraints',
  ]);
});

it('the library refuses with exactly the listed codes', () => {
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

it('a session has exactly the listed methods', () => {
  expect(Object.getOwnPropertyNames(Session.prototype).toSorted()).toEqual([
    'acknowledge',
    'actors',
    'admit',
    'admitUncovered',
    'attach',
    'available',
    'close',
    'conclude',
    'config',
    'constructor',
    'delegate',
    'detach',
    'evidence',
    'grants',
    'hop',
    'id',
    'inbox',
    'note',
    'observeOnly',
    'operatorActs',
    'root',
    'runsInBackground',
    'setMode',
    'settle',
    'specs',
    'start',
    'state',
    'step',
    'stop',
    'tool',
    'wants',
    'wayTo',
    'why',
    'whyMove',
    'wouldRefuse',
  ]);
});
