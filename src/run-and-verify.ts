import { type AuditState, initialAuditState } from './audit/rules/audit-state.ts';
import { findFirstRuleProblem } from './audit/rules/find-rule-problems.ts';
import type { AuditResult } from './audit/verify/audit-result.ts';
import { SessionAudit } from './audit/verify/session-audit.ts';
import { assertArgument, hasMethods } from './base/assert-argument.ts';
import { type AnyFields, type Fields, isObject, textOf } from './base/json.ts';
import type { Entry } from './evidence/entry.ts';
import type { Denial } from './gate/denial.ts';
import { assertOptions, BACKEND_FORM, isToolBackend, OPEN_OPTION_FORMS } from './open-options.ts';
import { type ApproveFunction, toApprover } from './operator/approve-function.ts';
import type { Approver } from './ports/approver.ts';
import type { ToolBackend, ToolCall, ToolReport } from './ports/tool-backend.ts';
import type { SessionParts } from './session/calls/session-parts.ts';
import { toPlainJson } from './session/convert-input.ts';
import { createSession } from './session/create-session.ts';
import { assertSpecSet } from './spec/assert-spec-set.ts';
import { assertStatedConfig } from './spec/load/load-project-config.ts';
import type { Mode, Principal, ProjectConfig, SpecSet } from './spec/types.ts';
import { memoryStore } from './stores/memory.ts';
import { countingIds } from './testing/doubles/counting-ids.ts';
import { MADE_UP_CONFIG } from './testing/model/model-config.ts';
import { sendRequest } from './testing/model/send-request.ts';
import { makeHopModel, makeModeModel } from './testing/model/session-model.ts';
import type { Move } from './testing/plan/move.ts';
import { searchModelRoute } from './testing/plan/search-route.ts';
import { withTimeLimit } from './tools/time-limit.ts';

/** Default: a memory store, the system's clock, counted ids and no tools. */
export interface RunAndVerifyOptions extends Partial<Pick<SessionParts, 'store' | 'clock' | 'ids' | 'backends'>> {
  /** Gives the approvals that are needed on the path to `mode` and to the peripheral. */
  readonly approver?: Approver | ApproveFunction | null;
  /** Overrides parts of the config of a made-up repository: test command `run tests`, deploy command `ship staging`. */
  readonly config?: Partial<ProjectConfig>;
  /** Absolute real path of the repository; default: a made-up one. */
  readonly root?: string;
  readonly agent?: string;
  /** The mode to work in, reached by the transitions of the mode gate; default: the initial one. */
  readonly mode?: Mode;
  /** The author of the start; the operator may start if the entry names `user-request`. */
  readonly by?: Principal;
  readonly context?: AnyFields;
  readonly fruit?: AnyFields;
  readonly reason?: string;
}

const OBJECT = [isObject, 'an object'] as const;
const NAME = [(value: unknown) => textOf(value) !== null, 'a text'] as const;
const { clock: CLOCK, ids: IDS, config: CONFIG, root: ROOT, agent: AGENT } = OPEN_OPTION_FORMS;
const APPROVER = OPEN_OPTION_FORMS.approver[0];
const OPTIONS: Parameters<typeof assertOptions<RunAndVerifyOptions>>[1] = {
  store: [(value) => hasMethods(value, 'acquire', 'append', 'entries', 'putBlob'), 'an evidence store'],
  clock: CLOCK,
  ids: IDS,
  backends: [(value) => Array.isArray(value) && value.every(isToolBackend), `a list of backends: ${BACKEND_FORM}`],
  approver: [(value) => value === null || (value !== 'operator' && APPROVER(value)), 'a function, an approver or null'],
  config: CONFIG,
  root: ROOT,
  agent: AGENT,
  mode: NAME,
  by: NAME,
  context: OBJECT,
  fruit: OBJECT,
  reason: NAME,
};

export interface RunAndVerifyResult {
  /** True if every action was allowed and the evidence agrees with the spec. */
  readonly ok: boolean;
  /** The denial that ended the run; null if every action was allowed. */
  readonly denial: Denial | null;
  /** Null if the visit could not be started or stopped. */
  readonly fruit: Fields | null;
  readonly context: Fields;
  readonly evidence: readonly Entry[];
  readonly verdict: AuditResult;
}

/**
 * The round trip in one call: a session enters a peripheral, takes the actions and stops; then the audit verifies it
 * against its spec. A peripheral that cannot be started is entered by the shortest path: the steps on it get stub
 * results (a passing test run before a hop to `deploy`) and reach no backend.
 * @throws TypeError if `specs`, `actions` or `options` has no such form
 * @example
 * const actions = [{ tool: 'bash-git', args: ['push'] }];
 * const { ok, verdict } = await runAndVerify(specs, 'deploy', actions, { backends, mode: 'execute', approver });
 */
export async function runAndVerify(
  specs: SpecSet,
  peripheral: string,
  actions: readonly { readonly tool: string; readonly args?: unknown }[],
  options: RunAndVerifyOptions = {},
): Promise<RunAndVerifyResult> {
  assertSpecSet(specs, 'runAndVerify: specs');
  assertArgument(Array.isArray(actions), 'runAndVerify: actions', 'a list of { tool, args? }', actions);
  assertArgument(textOf(peripheral) !== null, 'runAndVerify: peripheral', 'the id of a peripheral', peripheral);
  assertOptions('runAndVerify', OPTIONS, options);
  const { clock = { now: Date.now }, ids = countingIds(), backends = [] } = options;
  const { root = '/repository', by = 'agent', agent = 'agent' } = options;
  const config = { ...MADE_UP_CONFIG, ...assertStatedConfig(options.config ?? {}) };
  const store = options.store ?? memoryStore({ clock });
  const lead: StubLead = { report: null };
  const session = await createSession(
    {
      store,
      clock,
      ids,
      backends: withStubReports(lead, specs, backends.map(withTimeLimit)),
      approver: options.approver ? toApprover(options.approver) : null,
    },
    { specs, config, agent, root, unsafeNoSandbox: false, version: '0' },
  );
  const audit = new SessionAudit({ specs, config });
  const finish = async (denial: Denial | null, fruit: Fields | null): Promise<RunAndVerifyResult> => {
    const context = session.state.backpack;
    if (session.state.peripheral === null) await session.close();
    else await session.detach();
    const evidence: Entry[] = [];
    for await (const stored of store.entries(session.id)) {
      audit.add(stored.entry, stored.body === null);
      evidence.push(stored.entry);
    }
    const verdict = audit.result();
    return { ok: denial === null && verdict.ok, denial, fruit, context, evidence, verdict };
  };

  const start: Move = {
    name: `start ${peripheral}`,
    asked: {
      kind: 'start',
      peripheral,
      by,
      ...(options.context ? { context: toPlainJson(options.context) as Fields } : {}),
    },
  };
  for (const { asked, report } of movesTo(
    initialAuditState({ specs, config }, { agent, sessionId: session.id }),
    start,
    options,
  )) {
    lead.report = report ?? null;
    const moved = await sendRequest(session, asked);
    lead.report = null;
    if (!moved.ok) return finish(moved.denial, null);
  }
  let refused: Denial | null = null;
  for (const action of actions) {
    const stepped = await session.step(action);
    if (stepped.ok) continue;
    refused = stepped.denial;
    break;
  }
  const stopped = await session.stop(options.reason ?? 'done', options.fruit ? { fruit: options.fruit } : {});
  return stopped.ok ? finish(refused, stopped.fruit) : finish(refused ?? stopped.denial, null);
}

/** The tool report of the present step on the path to the peripheral; null once the session is in the peripheral. */
interface StubLead {
  report: ToolReport | null;
}

/** Backends that return the stub report if there is one, else the report of the caller's backend. */
function withStubReports(lead: StubLead, { tools }: SpecSet, backends: readonly ToolBackend[]): readonly ToolBackend[] {
  const served = new Set(backends.flatMap((backend) => backend.tools));
  const unserved: ToolBackend = {
    name: 'none',
    tools: Object.keys(tools).filter((id) => !served.has(id)),
    run: async ({ tool }) => {
      throw new Error(`no backend serves ${tool.id}`);
    },
  };
  return [...backends, unserved].map((backend) =>
    Object.create(backend, { run: { value: async (call: ToolCall) => lead.report ?? backend.run(call) } }),
  );
}

/** The moves into the peripheral: the mode changes, then the start if it is allowed, else the shortest path. */
function movesTo(opening: AuditState, start: Move, { mode }: RunAndVerifyOptions): readonly Move[] {
  const { pinned } = opening;
  const asked = start.asked as Extract<Move['asked'], { kind: 'start' }>;
  const toMode =
    mode === undefined || mode === opening.mode
      ? null
      : searchModelRoute(
          makeModeModel(pinned, opening),
          opening,
          (_, move) => move.asked.kind === 'mode' && move.asked.to === mode,
        );
  const modes = toMode?.moves ?? [];
  const ready = toMode?.states.at(-1) ?? opening;
  if (findFirstRuleProblem(ready, asked) === null) return [...modes, start];
  const route = searchModelRoute(makeHopModel(pinned, ready, false), ready, (_, move) => {
    if (move.asked.kind === 'start') return move.asked.peripheral === asked.peripheral;
    return move.asked.kind === 'hop' && move.asked.to === asked.peripheral;
  });
  return [...modes, ...(route?.moves ?? [start])];
}
