export { CONTROLS } from '../../spec/policy/tool-ids.ts';
export type {
  AgentAnswer,
  AgentCall,
  AgentSession,
  AgentTool,
  ControlName,
  InputSchema,
} from './agent-session.ts';
export type { ClientProvider } from './calls/client-tools.ts';
export {
  type ActionContext,
  type ActionStep,
  type ClientAction,
  toolCallToAction,
} from './calls/tool-call-to-action.ts';
export { describeConstraints, type PeripheralConstraints } from './describe-constraints.ts';
export { describeRefusal } from './describe-refusal.ts';
export { type DetectedExit, detectExit } from './language/detect-exit.ts';
export { type JsonMove, readJsonMove } from './language/read-json-move.ts';
export { agentSession } from './local-agent-session.ts';
export { type PromptOptions, promptSection } from './prompt-section.ts';
export { renderResult } from './render-result.ts';
export { readSituation, type SessionSituation as Situation } from './situation.ts';
export { type RecordedSession, type RecordOptions, recordTranscript } from './transcript/record-transcript.ts';
export { transcriptPath, transcriptTo } from './transcript/transcript-file.ts';
