export { askCodex, type CodexAnswer, type ListedHook } from './ask-codex.ts';
export { CODEX_EVENTS, type CodexEvent, type CodexHooks, codexHooks } from './codex-hook-config.ts';
export {
  type CodexLike,
  type CodexThreadLike,
  codexThread,
  type PeripheralThread,
  type RemoteSession,
  type SdkThreadOptions,
  type ThreadSettings,
} from './codex-thread.ts';
export { handleCodexEvent } from './handle-codex-event.ts';
export {
  type CodexOverride,
  hookOverrides,
  type McpEntry,
  type McpServer,
  mcpOverrides,
  sandboxOverrides,
  trustOverride,
  withoutShell,
} from './overrides.ts';
export { type CodexThreadOptions, threadOptions } from './thread-options.ts';
