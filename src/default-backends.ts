import manifest from '../package.json' with { type: 'json' };
import { memoise } from './base/lazy.ts';
import type { EvidenceStore } from './ports/evidence-store.ts';
import type { ToolBackend } from './ports/tool-backend.ts';
import { INSTALL_TOOL_ID } from './spec/policy/command-tools.ts';
import { LAZY_BACKENDS } from './spec/policy/tool-ids.ts';
import type { ProjectConfig, SpecSet } from './spec/types.ts';
import { workspaceBackend } from './tools/workspace/workspace-backend.ts';

/**
 * The backends of hopgate's tools. The first command tests the sandbox, once. If `specs` binds a tool to an MCP server,
 * only that server serves it, even if hopgate has a tool of the same name. If `config` does not name the server,
 * nothing serves the tool.
 */
export function defaultBackends(
  store: EvidenceStore,
  options: {
    readonly unsafeNoSandbox: boolean;
    readonly env?: (() => NodeJS.ProcessEnv) | undefined;
    readonly specs?: Pick<SpecSet, 'tools'>;
    readonly config?: Pick<ProjectConfig, 'upstream'>;
  },
): ToolBackend[] {
  const detect = memoise(async () =>
    (await import('./tools/sandbox/detect-sandbox.ts')).sandboxOfProcess(options.unsafeNoSandbox),
  );
  const bound = Object.values(options.specs?.tools ?? {}).filter(({ upstream }) => upstream !== undefined);
  const names = new Set(bound.map(({ id }) => id));
  const here = bound.filter(({ upstream }) => Object.hasOwn(options.config?.upstream ?? {}, upstream!.server));
  const shared: readonly ToolBackend[] = [
    workspaceBackend(),
    {
      ...onFirstUse(LAZY_BACKENDS.shell, async () => {
        const { shellBackend } = await import('./tools/shell/shell-backend.ts');
        return shellBackend(await detect(), options.env);
      }),
      boundFiles: async ({ tool, envelope }) =>
        tool.id === INSTALL_TOOL_ID ? (await import('./tools/install/lock-files.ts')).hashLockFiles(envelope.root) : {},
    },
    {
      ...onFirstUse(LAZY_BACKENDS.git, async () => {
        const { gitBackend } = await import('./tools/git/git-backend.ts');
        return gitBackend(await detect(), options.env);
      }),
      tree: async (observation) => {
        const { observeTree } = await import('./tools/tree/observe-tree.ts');
        const env = options.env?.() ?? process.env;
        return observeTree(await detect(), observation, observation.signal, observation.isOwnChange, {
          agent: observation.agent,
          env,
        });
      },
    },
    onFirstUse(LAZY_BACKENDS.web, async () => (await import('./tools/web/web-backend.ts')).webBackend()),
    onFirstUse(LAZY_BACKENDS.sessionLog, async () => (await import('./tools/session-log.ts')).sessionLogBackend(store)),
    onFirstUse(LAZY_BACKENDS.environment, async () => {
      const [{ worldBackend }, { householdWorld }] = await Promise.all([
        import('./tools/world/world-backend.ts'),
        import('./world/home-world.ts'),
      ]);
      return worldBackend(householdWorld);
    }),
    onFirstUse(LAZY_BACKENDS.messages, async () =>
      (await import('./tools/messages/messages-backend.ts')).messagesBackend(store),
    ),
    onFirstUse(LAZY_BACKENDS.agency, async () => {
      const { agencyBackend } = await import('./tools/agency/agency-backend.ts');
      return agencyBackend(store, options.env ?? (() => process.env));
    }),
    onFirstUse(LAZY_BACKENDS.discipline, async () =>
      (await import('./tools/discipline/discipline-backend.ts')).disciplineBackend(store),
    ),
  ];
  const own = shared.map((backend) => withoutTools(names, backend));
  if (here.length === 0) return own;
  const upstream = onFirstUse({ name: 'upstream', tools: here.map(({ id }) => id) }, async () => {
    const { upstreamBackend } = await import('./tools/upstream/upstream-backend.ts');
    return upstreamBackend({ tools: options.specs?.tools ?? {}, version: manifest.version });
  });
  return [upstream, ...own];
}

const withoutTools = (names: ReadonlySet<string>, backend: ToolBackend): ToolBackend => {
  const tools = backend.tools.filter((id) => !names.has(id));
  return tools.length === backend.tools.length ? backend : { ...backend, tools };
};

/** A backend that is loaded and created at the first call of one of its tools. */
function onFirstUse(listed: Pick<ToolBackend, 'name' | 'tools'>, make: () => Promise<ToolBackend>): ToolBackend {
  let backend: Promise<ToolBackend> | null = null;
  return {
    ...listed,
    async run(call) {
      backend ??= make();
      return (await backend).run(call);
    },
    async endBackground(sessionId) {
      await (await backend)?.endBackground?.(sessionId);
    },
    async close() {
      await (await backend)?.close?.();
    },
  };
}
