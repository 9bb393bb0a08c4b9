import { type AuditState, visitScope } from '../../audit/rules/audit-state.ts';
import { isSameJson } from '../../audit/rules/compare-json.ts';
import { toBody } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import type { ToolBackend, ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { recordsIntent } from '../../spec/policy/tool-effects.ts';

/** The state of a session that prepared tools check their calls against, and the report that they return. */
interface StubCall {
  /** The session's state before the call. */
  readonly state: () => AuditState;
  /** The last entry of the session. */
  readonly last: () => Entry | null;
  /** The report that the tool returns; null makes it throw. */
  readonly report: () => ToolReport | null;
  /** Called for each rule that a call breaks. */
  readonly complain: (problem: string) => void;
}

/** A backend that runs nothing: it returns prepared reports, and complains about calls that are wrong. */
export function stubBackend(tools: readonly string[], session: StubCall): ToolBackend {
  return {
    name: 'stub',
    tools,
    run: async (call) => {
      const problem = intentProblem(call, session) ?? envelopeProblem(call, session);
      if (problem) session.complain(problem);
      const report = session.report();
      if (!report) throw new Error('the stub tool failed on purpose');
      return report;
    },
  };
}

/** The problem of a tool that runs before its intent is stored; null if the order is right. */
function intentProblem({ tool }: ToolCall, { last }: StubCall): string | null {
  if (!recordsIntent(tool)) return null;
  const entry = last();
  const body = entry && toBody(entry.body);
  return body?.event === 'intent' && body.tool === tool.id
    ? null
    : `${tool.id} ran after an entry of ${body?.event ?? 'nothing'} instead of its intent`;
}

/** The problem of a call's envelope; null if it is right. The envelope limits effects that no argument shows. */
function envelopeProblem({ envelope }: ToolCall, { state }: StubCall): string | null {
  const { root, peripheral, scope, readableFiles, unsafeNoSandbox } = envelope;
  const actual = { root, peripheral, scope, readableFiles, unsafeNoSandbox };
  const now = state();
  const expectedScope = visitScope(now);
  const expected = {
    root: now.root,
    peripheral: now.visit?.peripheral ?? null,
    scope: expectedScope,
    readableFiles: expectedScope.read === 'session-log' ? [...now.files] : null,
    unsafeNoSandbox: false,
  };
  return isSameJson(actual, expected)
    ? null
    : `the envelope of the call is ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
}
