import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { assertArgument, checkedClock } from './base/assert-argument.ts';
import { nameLeaseHolder } from './base/process-holder.ts';
import { defaultBackends } from './default-backends.ts';
import { openEvidenceFile } from './open-evidence.ts';
import { assertOpenOptions, BACKEND_FORM, isToolBackend, type OpenOptions } from './open-options.ts';
import { toApprover } from './operator/approve-function.ts';
import { whoRevokedGrant } from './operator/revoked-grants.ts';
import type { Approver } from './ports/approver.ts';
import type { Clock } from './ports/clock.ts';
import type { EvidenceStore } from './ports/evidence-store.ts';
import type { IdGenerator } from './ports/ids.ts';
import type { ToolBackend } from './ports/tool-backend.ts';
import { realRepositoryRoot } from './project/repository-root.ts';
import { ensureStateDir, evidenceFileIn, stateDir } from './project/state-dir.ts';
import { createSession, resumeSession } from './session/create-session.ts';
import type { SessionPin } from './session/pin.ts';
import { type ResumePoint, readResumePoint } from './session/resume-point.ts';
import type { Session } from './session/session.ts';
import type { ProjectConfig } from './spec/types.ts';
import { makeTimeOrderedId } from './stores/time-ordered-id.ts';
import type { SessionSpans } from './telemetry/index.ts';
import { withPathChecks } from './tools/judge-paths.ts';
import { withTimeLimit } from './tools/time-limit.ts';

export const randomIds: IdGenerator = {
  next: (kind) =>
    kind === 'writer' ? nameLeaseHolder(`w-${makeTimeOrderedId()}`) : `${kind[0]}-${makeTimeOrderedId()}`,
};

/** The ids of {@link randomIds}, except the session's id. */
export const idsWithSession = (session: string): IdGenerator => ({
  next: (kind) => (kind === 'session' ? session : randomIds.next(kind)),
});

/**
 * Opens a session: one agent, one repository, one spec set, from start to close.
 * @throws TypeError for an unknown or wrong option; {@link ProjectError} if the root is not a folder; {@link SpecError}
 *   if specs, hopgate.yaml or `config` have problems; {@link StoreError} `session-not-found` for an unknown `session`,
 *   `store-failed` for a file that cannot be opened; Error if the session belongs to another agent or folder.
 * @example
 * const session = await openSession({ root: '.', agent: 'my-agent', store: 'memory' });
 * await session.setMode({ to: 'diagnose' });
 * await session.start('explore');
 */
export async function openSession(options: OpenOptions): Promise<Session> {
  assertOpenOptions(options);
  const root = realRepositoryRoot(options.root);
  const clock = checkedClock(options.clock ?? Date);
  const unsafeNoSandbox = options.unsafeNoSandbox ?? false;
  const { store, owned } = await openStore(options, root, clock);
  let backends: readonly ToolBackend[] = [];
  const spans = await spansOf(options.telemetry);
  const dispose = async () => {
    spans?.end();
    const closed = await Promise.allSettled(backends.map(async (backend) => backend.close?.()));
    if (owned) await store.close();
    for (const each of closed) if (each.status === 'rejected') throw each.reason;
  };
  try {
    const point = options.session === undefined ? null : await readResumePoint(store, options.session);
    const pin = point
      ? point.pin
      : await (options.delegation ? delegated(store, options.delegation) : pinOf(options, root));
    backends = backendsOf(options.backends, () =>
      defaultBackends(store, { unsafeNoSandbox, env: options.env, ...pin }),
    );
    if (spans) backends = spans.timed(backends);
    const parts = {
      store,
      clock,
      ids: options.ids ?? randomIds,
      backends,
      approver: await approverOf(options.approver, root),
      revokedBy: (grant: string) => whoRevokedGrant(stateDir(root, process.env), grant),
      dispose,
      inspector: options.inspector,
      ...onEntryOf(options.onEntry, spans),
    };
    if (options.session !== undefined && point)
      return await resume(parts, options.session, { ...options, root }, point);
    return await createSession(parts, {
      ...(options.parent === undefined ? {} : { parent: options.parent }),
      ...pin,
      agent: options.agent,
      root,
      unsafeNoSandbox,
      version: manifest.version,
    });
  } catch (error) {
    await dispose();
    throw error;
  }
}

const delegated = async (store: EvidenceStore, { entry }: { readonly entry: string }) =>
  (await import('./session/sub-agent.ts')).readDelegatedSession(store, entry);

async function spansOf(telemetry: OpenOptions['telemetry']): Promise<SessionSpans | null> {
  if (!telemetry) return null;
  const { SessionSpans } = await import('./telemetry/index.ts').catch((cause: unknown) => {
    throw new Error('telemetry needs the package @opentelemetry/api: run "npm install @opentelemetry/api"', { cause });
  });
  return new SessionSpans(telemetry === true ? {} : telemetry);
}

function onEntryOf(onEntry: OpenOptions['onEntry'], spans: SessionSpans | null): Pick<OpenOptions, 'onEntry'> {
  if (!spans) return onEntry ? { onEntry } : {};
  return {
    onEntry: (entry) => {
      spans.add(entry);
      onEntry?.(entry);
    },
  };
}

async function resume(
  parts: Parameters<typeof resumeSession>[0],
  id: string,
  { agent, root }: Pick<OpenOptions, 'agent' | 'root'>,
  point: ResumePoint,
): Promise<Session> {
  const session = await resumeSession(parts, id, point);
  const { state } = session;
  if (state.agent !== agent)
    throw new Error(`session ${id} belongs to agent "${state.agent}", not to "${agent}"; open it under that id`);
  if (session.root !== root)
    throw new Error(`session ${id} belongs to the folder ${session.root}, not to ${root}; open it with that root`);
  return session;
}

async function openStore(
  { store }: OpenOptions,
  root: string,
  clock: Clock,
): Promise<{ store: EvidenceStore; owned: boolean }> {
  if (typeof store === 'object') return { store, owned: false };
  // Only asks whether SQLite exists: loading it prints a warning in Node 22.
  if (!process.getBuiltinModule?.('node:module')?.isBuiltin('node:sqlite'))
    throw new Error(`hopgate needs Node 22.13 or newer for SQLite, and this is ${process.versions.node}; update Node`);
  if (store === 'memory') return { store: (await import('./stores/memory.ts')).memoryStore({ clock }), owned: true };
  const file = store ?? evidenceFileIn(ensureStateDir(root, process.env));
  return { store: openEvidenceFile(file, 'create', { clock }), owned: true };
}

/** Parsing specs takes longer than the rest of opening a session, so the parser is loaded only for a new session. */
async function pinOf(options: OpenOptions, root: string): Promise<SessionPin> {
  const [{ openProject }, { loadProjectConfig, assertStatedConfig }, { loadSpecs }] = await Promise.all([
    import('./project/open-project.ts'),
    import('./spec/load/load-project-config.ts'),
    import('./spec/load/load-specs.ts'),
  ]);
  const stated = assertStatedConfig(options.config ?? {});
  const project = options.trustConfig
    ? { config: (await loadProjectConfig(root)).config, specs: null }
    : await openProject(root, process.env);
  const config: ProjectConfig = {
    ...project.config,
    ...stated,
    ...(options.observe ? { enforce: false as const } : {}),
  };
  const chosen = options.specs ?? project.specs ?? (config.specs === 'default' ? 'default' : join(root, config.specs));
  return { specs: typeof chosen === 'string' ? await loadSpecs(chosen) : chosen, config };
}

function backendsOf(chosen: OpenOptions['backends'], real: () => readonly ToolBackend[]): readonly ToolBackend[] {
  const defaults = chosen === undefined || typeof chosen === 'function' ? real() : [];
  if (chosen === undefined) return defaults;
  const all = typeof chosen === 'function' ? chosen(defaults) : chosen;
  assertArgument(Array.isArray(all), 'openSession: backends', 'a function that returns a list of backends', all);
  return all.map((backend, index) => {
    if (defaults.includes(backend)) return backend;
    assertArgument(isToolBackend(backend), `openSession: backends[${index}]`, BACKEND_FORM, backend);
    return withPathChecks(withTimeLimit(backend));
  });
}

async function approverOf(approver: OpenOptions['approver'], root: string): Promise<Approver | null> {
  if (approver === undefined) return null;
  if (approver === 'operator') {
    const { pendingApprover } = await import('./operator/pending-approver.ts');
    return pendingApprover({ stateDir: ensureStateDir(root, process.env), root });
  }
  return toApprover(approver);
}
