export { CONTROLS } from '../../spec/policy/closed-lists.ts';
export type {
  AgentAnswer,
  AgentCall,
  AgentSession,
  AgentTool,
  Control,
  InputSchema,
} from './agent-session.ts';
export type { Provider } from './calls/client-tools.ts';
export {
  type ActionContext,
  type ActionStep,
  type ClientAction,
  toolCallToAction,
} from './calls/tool-call-to-action.ts';
export { type Constraints, describeConstraints } from './describe-constraints.ts';
export { describeRefusal } from './describe-refusal.ts';
export { type DetectedExit, detectExit } from './language/detect-exit.ts';
export { type JsonMove, readJsonMove } from './language/read-json-move.ts';
export { agentSession } from './local-agent-session.ts';
export { type PromptOptions, promptSection } from './prompt-section.ts';
export { renderResult } from './render-result.ts';
export { type SessionSituation as Situation, situation } from './situation.ts';
export { type RecordedSession, type RecordOptions, recordTranscript } from './transcript/record-transcript.ts';
export { transcriptPath, transcriptTo } from './transcript/transcript-file.ts';
