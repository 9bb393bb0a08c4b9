import { type AuditState, visitScope } from '../../audit/rules/audit-state.ts';
import { isSameJson } from '../../audit/rules/compare-json.ts';
import { bodyOf } from '../../evidence/bodies.ts';
import type { Entry } from '../../evidence/entry.ts';
import type { ToolBackend, ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { hasIntent } from '../../spec/policy/tool-effects.ts';

/** The parts of a session that a canned tool needs. */
interface CannedCall {
  /** The session's state before the call. */
  readonly state: () => AuditState;
  readonly last: () => Promise<Entry | null>;
  /** The report to return; null makes the tool throw. */
  readonly report: () => ToolReport | null;
  /** Called with each problem of a call. */
  readonly complain: (problem: string) => void;
}

/** A backend that runs nothing: it returns the canned report, and complains about calls that should not be made so. */
export function cannedBackend(tools: readonly string[], session: CannedCall): ToolBackend {
  return {
    name: 'canned',
    tools,
    run: async (call) => {
      const problem = (await intentProblem(call, session)) ?? envelopeProblem(call, session);
      if (problem) session.complain(problem);
      const report = session.report();
      if (!report) throw new Error('the canned tool failed on purpose');
      return report;
    },
  };
}

/** Reports a tool that runs before its intent is durable. */
async function intentProblem({ tool }: ToolCall, { last }: CannedCall): Promise<string | null> {
  if (!hasIntent(tool)) return null;
  const entry = await last();
  const body = entry && bodyOf(entry.body);
  return body?.event === 'intent' && body.tool === tool.id
    ? null
    : `${tool.id} ran after an entry of ${body?.event ?? 'nothing'} instead of its intent`;
}

/** Checks a call's envelope, which limits effects that no argument shows. */
function envelopeProblem({ envelope }: ToolCall, { state }: CannedCall): string | null {
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
