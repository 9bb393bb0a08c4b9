export type {
  AgentAnswer,
  AgentCall,
  AgentSession,
  AgentTool,
  Control,
  InputSchema,
} from './agent-session.ts';
export { CONTROLS } from './agent-session.ts';
export { agentSession } from './local.ts';
export { promptSection } from './prompt-section.ts';
export { toolCallToAction } from './tool-call-to-action.ts';
export { toolMapping } from './tool-mapping.ts';
export { type RecordedSession, type RecordOptions, recordTranscript } from './transcript.ts';
export { transcriptPath, transcriptTo } from './transcript-file.ts';
