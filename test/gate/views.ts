import type { Approval } from '../../src/gate/approvals/approval.ts';
import { decide } from '../../src/gate/decide.ts';
import type { GateContext, Request } from '../../src/gate/request.ts';
import type { SessionView, VisitView } from '../../src/gate/session-view.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import type { SpecSet } from '../../src/spec/types.ts';
import { fixtureSpecs } from '../fixture-specs.ts';

export { fixtureSpecs };

/** A session as the gate sees it: open, in EXECUTE, outside of any peripheral, nothing done. */
export const viewOf = (some: Partial<SessionView> = {}): SessionView => ({
  sessionId: 's',
  agent: 'tester',
  root: '/repository',
  now: 1000,
  closed: false,
  mode: 'execute',
  visit: null,
  visits: {},
  steps: 0,
  denials: 0,
  naturalClose: false,
  tests: { passed: false, count: 0, failed: 0 },
  patterns: {},
  backpack: { 'session-id': 's', author: 'tester' },
  fruits: {},
  files: [],
  changes: {},
  usedNonces: [],
  ...some,
});

/** A running visit. */
export const visitTo = (peripheral: string, some: Partial<VisitView> = {}): VisitView => ({
  peripheral,
  status: 'active',
  steps: 0,
  denials: 0,
  deadline: null,
  observedFruit: {},
  ...some,
});

export const contextOf = (view: SessionView, specs: SpecSet = fixtureSpecs): GateContext => ({
  specs,
  config: DEFAULT_PROJECT_CONFIG,
  view,
  unsafeNoSandbox: false,
});

/** An approval record for exactly the wanted request. */
export const grantFor = (hash: string, some: Partial<Approval> = {}): Approval => ({
  id: 'a-1',
  nonce: 'n-1',
  sessionId: 's',
  requestHash: hash,
  by: 'operator',
  expiresAt: 2000,
  ...some,
});

/** `ok`, or the code of the denial. If only an approval is missing, it is granted first. */
export function answer(context: GateContext, request: Request): string {
  const first = decide(context, request);
  if (first.ok) return 'ok';
  if (!first.wanted) return first.denial.code;
  const second = decide(context, { ...request, approval: grantFor(first.wanted.hash) } as Request);
  return second.ok ? 'ok' : second.denial.code;
}
