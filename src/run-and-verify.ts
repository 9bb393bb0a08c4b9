import { SessionAudit } from './audit/verify/session-audit.ts';
import type { AuditVerdict } from './audit/verify/verdict.ts';
import type { Entry } from './evidence/entry.ts';
import type { Denial } from './gate/denial.ts';
import { createSession } from './session/open.ts';
import type { SessionParts } from './session/session-calls.ts';
import type { Json, Mode, Principal, ProjectConfig, SpecSet } from './spec/types.ts';

type Fields = { readonly [field: string]: Json };

export interface RunAndVerifyOptions extends Pick<SessionParts, 'store' | 'clock' | 'ids' | 'backends'> {
  /** Gives the approvals that the mode gate asks for on the way to `mode`. */
  readonly approver?: SessionParts['approver'];
  readonly config: ProjectConfig;
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly agent?: string;
  /** The mode to work in, reached by the transitions of the mode gate; default: the initial one. */
  readonly mode?: Mode;
  /** The author of the start; the operator may start if the entry names `user-request`. */
  readonly by?: Principal;
  readonly context?: Fields;
  readonly fruit?: Fields;
  readonly reason?: string;
}

export interface RunVerdict {
  /** True if every action was allowed and the evidence agrees with the spec. */
  readonly ok: boolean;
  /** The denial that ended the run; null if every action was allowed. */
  readonly denial: Denial | null;
  /** Null if the visit could not be started or stopped. */
  readonly fruit: Fields | null;
  readonly context: Fields;
  readonly evidence: readonly Entry[];
  readonly verdict: AuditVerdict;
}

/**
 * The round trip in one call: a session that starts a peripheral, takes the actions and stops; then the audit verifies
 * it against its spec.
 *
 * @example
 * const actions = [{ tool: 'read', args: ['src/a.ts'] }];
 * const { ok, verdict } = await runAndVerify(specs, 'explore', actions, { ...parts, mode: 'diagnose' });
 */
export async function runAndVerify(
  specs: SpecSet,
  peripheral: string,
  actions: readonly { readonly tool: string; readonly args?: unknown }[],
  options: RunAndVerifyOptions,
): Promise<RunVerdict> {
  const { store, clock, ids, backends, config, root, by = 'agent' } = options;
  const session = await createSession(
    { store, clock, ids, backends, approver: options.approver ?? null },
    { specs, config, agent: options.agent ?? 'agent', root, unsafeNoSandbox: false, version: '0' },
  );
  const audit = new SessionAudit({ specs, config });
  const finish = async (denial: Denial | null, fruit: Fields | null): Promise<RunVerdict> => {
    const context = session.state.backpack;
    if (session.state.peripheral === null) await session.close();
    else await session.detach();
    const evidence: Entry[] = [];
    for await (const stored of store.entries(session.id)) {
      audit.add(stored.entry, stored.body === null);
      evidence.push(stored.entry);
    }
    const verdict = audit.verdict();
    return { ok: denial === null && verdict.ok, denial, fruit, context, evidence, verdict };
  };

  for (const to of options.mode ? wayTo(specs, options.mode) : []) {
    const moved = await session.setMode({ to, by: 'operator', summary: `to ${to}` });
    if (!moved.ok) return finish(moved.denial, null);
  }
  const started = await session.start(peripheral, { by, ...(options.context ? { context: options.context } : {}) });
  if (!started.ok) return finish(started.denial, null);
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

/** The modes on the shortest way to a mode; empty if it is the current one or cannot be reached. */
function wayTo({ modeGate: gate }: SpecSet, mode: Mode): readonly Mode[] {
  if (!gate) return [];
  const ways: Mode[][] = [[gate.initial]];
  for (const way of ways) {
    if (way.at(-1) === mode) return way.slice(1);
    for (const { from, to } of gate.transitions) if (from === way.at(-1) && !way.includes(to)) ways.push([...way, to]);
  }
  return [];
}
