import manifest from '../package.json' with { type: 'json' };
import type { EvidenceStore } from './ports/evidence-store.ts';
import type { ToolBackend } from './ports/tool-backend.ts';
import type { SpecSet } from './spec/types.ts';
import { disciplineBackend } from './tools/discipline/backend.ts';
import { gitBackend } from './tools/git/backend.ts';
import { detectSandbox } from './tools/sandbox/detect.ts';
import type { Sandbox } from './tools/sandbox/sandbox.ts';
import { sessionLogBackend } from './tools/session-log.ts';
import { shellBackend } from './tools/shell/backend.ts';
import { upstreamBackend } from './tools/upstream/backend.ts';
import { webBackend } from './tools/web/backend.ts';
import { workspaceBackend } from './tools/workspace/backend.ts';

/**
 * The real tools on a real repository. The sandbox is tried out when the first command needs it, once for all backends. A tool that `specs` binds
 * to an MCP server is served by that, whatever its name.
 */
export function defaultBackends(
  store: EvidenceStore,
  options: { readonly unsafeNoSandbox: boolean; readonly specs?: Pick<SpecSet, 'tools'> },
): ToolBackend[] {
  let sandbox: Promise<Sandbox> | null = null;
  const detect = () => {
    sandbox ??= detectSandbox({ unsafe: options.unsafeNoSandbox });
    return sandbox;
  };
  return [
    ...(options.specs ? [upstreamBackend({ tools: options.specs.tools, version: manifest.version })] : []),
    workspaceBackend(),
    onFirstUse('shell', ['bash-readonly', 'bash', 'bash-test', 'bash-deploy'], async () =>
      shellBackend(await detect()),
    ),
    onFirstUse('git', ['bash-git'], async () => gitBackend(await detect())),
    webBackend(),
    sessionLogBackend(store),
    disciplineBackend(store),
  ];
}

/** A backend that is made when its first call comes. */
function onFirstUse(name: string, tools: readonly string[], make: () => Promise<ToolBackend>): ToolBackend {
  let backend: Promise<ToolBackend> | null = null;
  return {
    name,
    tools,
    async run(call) {
      backend ??= make();
      return (await backend).run(call);
    },
    async close() {
      await (await backend)?.close?.();
    },
  };
}
