import type { CallEnvelope, ToolCall } from '../../../src/ports/tool-backend.ts';
import type { Json, ProjectConfig, ScopeRule } from '../../../src/spec/types.ts';

export const config = (changes: Partial<ProjectConfig> = {}): ProjectConfig => ({
  specs: 'default',
  scopes: {},
  test: [],
  deploy: {},
  git: null,
  web: { allow: [] },
  mask: ['.env', '.npmrc', '.netrc', '**/*.pem'],
  toolchains: [],
  ...changes,
});

const SCOPES: { readonly [tool: string]: ScopeRule } = {
  'bash-readonly': { read: 'root', write: [], command: 'read-only', url: 'none' },
  bash: { read: 'root', write: ['src/', 'docs/'], command: 'contained', url: 'none' },
  'bash-test': { read: 'root', write: [], command: 'test', url: 'none' },
  'bash-deploy': { read: 'none', write: [], command: 'deploy', url: 'none' },
  install: { read: 'root', write: ['src/'], command: 'contained', url: 'none' },
};

export interface CallChanges {
  readonly config?: Partial<ProjectConfig>;
  readonly envelope?: Partial<CallEnvelope>;
  readonly seconds?: number;
  readonly outputBytes?: number;
  readonly signal?: AbortSignal;
}

export function toolCall(
  root: string,
  tool: string,
  args: { [name: string]: Json },
  changes: CallChanges = {},
): ToolCall {
  return {
    tool: {
      id: tool,
      purpose: '',
      effect: 'act',
      parameters: [],
      limits: { seconds: changes.seconds ?? 30, outputBytes: changes.outputBytes ?? 1 << 20 },
    },
    args,
    envelope: {
      root,
      peripheral: 'p',
      scope: SCOPES[tool]!,
      readableFiles: null,
      config: config(changes.config),
      unsafeNoSandbox: false,
      ...changes.envelope,
    },
    sessionId: 's1',
    signal: changes.signal ?? new AbortController().signal,
  };
}
