import type { Fields, Mode, Principal, ProjectConfig, SpecSet } from '../spec/types.ts';
import type { Approval, ApprovalSubject } from './approvals/approval.ts';
import type { GrantView } from './approvals/grant.ts';
import type { Denial } from './denial.ts';
import type { Fruit } from './fruit.ts';
import type { SessionView } from './session-view.ts';

export interface StartRequest {
  readonly kind: 'start';
  readonly peripheral: string;
  readonly context?: Fields;
  readonly by: Principal;
}
export interface StepRequest {
  readonly kind: 'step';
  readonly tool: string;
  /** The arguments as the agent wrote them: an object by parameter name, or a list in the order of the parameters. */
  readonly args: unknown;
  /** The present sha256 of each file that an approval binds: lock files of an install, files that the call names. */
  readonly files?: Fields;
  /** The approval that a person just gave for this request; absent if there is none. */
  readonly approval?: Approval;
}
export interface HopRequest {
  readonly kind: 'hop';
  readonly to: string;
  /** If absent, inferred from the exits that hold: the exit that the reason names, `hop-<target>`, or the only exit. */
  readonly exit?: string;
  readonly reason: string;
  readonly fruit?: Fruit;
  readonly by: Principal;
  readonly approval?: Approval;
}
export interface StopRequest {
  readonly kind: 'stop';
  readonly reason: string;
  readonly fruit?: Fruit;
  readonly by: Principal;
}
export interface ModeRequest {
  readonly kind: 'mode';
  readonly to: Mode;
  readonly summary?: string;
  readonly reset?: boolean;
  readonly reason?: string;
  readonly exitCriteria?: string;
  readonly by: Principal;
  readonly approval?: Approval;
}
export interface CloseRequest {
  readonly kind: 'close';
  readonly reason: string;
  readonly by: Principal;
}
/** A run of an agent of the agency: the idempotency key, and whether tools are on in the agency peripheral. */
interface AgencyStart {
  readonly run: string;
  readonly acts: boolean;
}
export interface DelegateRequest {
  readonly kind: 'delegate';
  /** The peripheral in which a sub-agent is to start, or the agency peripheral in which an agent is to run. */
  readonly to: string;
  /** The run of the agency; absent for a sub-agent. */
  readonly agency?: AgencyStart;
  readonly reason: string;
  readonly by: Principal;
  readonly approval?: Approval;
}

/** A request of the agent, the operator or the clock, which the gate decides. Plain JSON. */
export type Request =
  | StartRequest
  | StepRequest
  | HopRequest
  | StopRequest
  | ModeRequest
  | CloseRequest
  | DelegateRequest;

/** The inputs of a decision: the trusted spec, the repository's config and the view of the session. */
export interface GateContext {
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
  readonly view: SessionView;
  readonly unsafeNoSandbox: boolean;
}

/** The missing approval of a request that lacks nothing else. */
export interface WantedApproval {
  readonly subject: ApprovalSubject;
  readonly hash: string;
  /** The operator's grant that covers the request; absent if a person must be asked. */
  readonly grant?: GrantView;
}

/** The gate's decision on a request. A refusal has `wanted` if the request only lacks an approval. */
export type Decision<Plan> =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly denial: Denial; readonly wanted: WantedApproval | null };

export type Refusal = Extract<Decision<never>, { ok: false }>;

/** The denial that a caller would get; null if the request is allowed, or a grant of the operator approves it. */
export const denialOf = (decision: Decision<unknown>): Denial | null =>
  decision.ok || decision.wanted?.grant ? null : decision.denial;
