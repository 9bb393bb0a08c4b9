export type { AuditResult } from './audit/verify/audit-result.ts';
export { verifyConstraints } from './audit/verify/verify-constraints.ts';
export { compileSpecs, type EnvelopeMeta, facts, guards, type Machine, type MachineEvent } from './compile/index.ts';
export { type Body, toBody } from './evidence/bodies.ts';
export type { Entry, StoredEntry } from './evidence/entry.ts';
export { decide, validateHop } from './gate/decide.ts';
export {
  type Available,
  DENIAL_CODES,
  type Denial,
  type DenialCode,
  type ModeStep,
  type WayLeg,
} from './gate/denial.ts';
export type { GateContext, Request } from './gate/request.ts';
export { transferContext } from './gate/transfer-context.ts';
export type { OpenOptions } from './open-options.ts';
export { openSession } from './open-session.ts';
export type { ApproveFunction } from './operator/approve-function.ts';
export type { ApprovalRequest, Approver } from './ports/approver.ts';
export type { Clock } from './ports/clock.ts';
export { type EvidenceStore, StoreError } from './ports/evidence-store.ts';
export type { Inspector } from './ports/inspector.ts';
export type { ToolBackend, ToolCall, ToolReport } from './ports/tool-backend.ts';
export { ProjectError, type ProjectErrorCode } from './project/project-error.ts';
export { runAndVerify } from './run-and-verify.ts';
export type { SessionActors } from './session/actors.ts';
export type { HopResult, ModeResult, StartResult, StepResult, StopResult } from './session/call-results.ts';
export { type ChainLink, type ChainResult, runChain } from './session/run-chain.ts';
export type { Session } from './session/session.ts';
export type { SessionStatus } from './session/session-status.ts';
export { SpecError, type SpecProblem } from './spec/check/spec-problem.ts';
export { loadSpecs } from './spec/load/load-specs.ts';
export type { Json, PeripheralSpec, ProjectConfig, SpecSet } from './spec/types.ts';
export { memoryStore } from './stores/memory.ts';
export { sqliteStore } from './stores/sqlite.ts';
