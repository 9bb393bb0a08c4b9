import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { assertArgument, hasMethods } from './base/assert-argument.ts';
import { fieldsOf, isObject } from './base/json.ts';
import { nameLeaseHolder } from './base/process-holder.ts';
import { defaultBackends } from './default-backends.ts';
import type { Entry } from './evidence/entry.ts';
import { openEvidenceFile } from './open-evidence.ts';
import { type ApproveFunction, toApprover } from './operator/approve-function.ts';
import { whoRevokedGrant } from './operator/revoked-grants.ts';
import type { Approver } from './ports/approver.ts';
import type { Clock } from './ports/clock.ts';
import type { EvidenceStore } from './ports/evidence-store.ts';
import type { IdGenerator } from './ports/ids.ts';
import type { Inspector } from './ports/inspector.ts';
import type { ToolBackend } from './ports/tool-backend.ts';
import { realRepositoryRoot } from './project/repository-root.ts';
import { ensureStateDir, evidenceFileIn, stateDir } from './project/state-dir.ts';
import { createSession, type NewSession, resumeSession } from './session/create-session.ts';
import type { SessionPin } from './session/pin.ts';
import { type ResumePoint, readResumePoint } from './session/resume-point.ts';
import type { Session } from './session/session.ts';
import { assertSpecSet } from './spec/assert-spec-set.ts';
import { SpecError } from './spec/check/spec-problem.ts';
import { describeSimilarName } from './spec/names.ts';
import type { ProjectConfig, SpecSet } from './spec/types.ts';
import { makeTimeOrderedId } from './stores/time-ordered-id.ts';
import type { SessionSpans } from './telemetry/index.ts';
import { withPathChecks } from './tools/judge-paths.ts';
import { withTimeLimit } from './tools/time-limit.ts';

/** The options of {@link openSession}; only `root` and `agent` are required. */
export interface OpenOptions {
  /**
   * A loaded spec set or the path of one. Default: the one in the repository's hopgate.yaml, else the shipped one. The
   * session freezes it and the config, so that no backend can change the rules for later calls.
   */
  readonly specs?: SpecSet | string;
  /** The repository. Tools see only files inside it. */
  readonly root: string;
  /** The agent's id, which is the author of its entries. */
  readonly agent: string;
  /** `memory`, a file for SQLite, or your own store. Default: SQLite in the state folder, outside the root. */
  readonly store?: 'memory' | (string & {}) | EvidenceStore;
  /**
   * Gives approvals. With `operator`, each request waits for `hopgate approve`, and the repeated call finds the answer.
   * Without an approver, a call that needs an approval is refused.
   */
  readonly approver?: Approver | ApproveFunction | 'operator';
  /** How the repository is tested and shipped. Default: its hopgate.yaml; only restrictions if it is not trusted. */
  readonly config?: Partial<ProjectConfig>;
  /** True to trust the present hopgate.yaml, because this program acts for the operator. */
  readonly trustConfig?: boolean;
  /**
   * Backends instead of the real tools. A function receives the real ones: `(real) => [mine, ...real]`. The first
   * backend that serves a tool's id runs it. All are closed with the session.
   */
  readonly backends?: readonly ToolBackend[] | ((real: readonly ToolBackend[]) => readonly ToolBackend[]);
  /** The id of a session to continue. The session keeps the spec and config that it was opened with. */
  readonly session?: string;
  /** The session whose sub-agent works in this one; the parent may ship the changes made here. */
  readonly parent?: string;
  /**
   * The delegation that started the sub-agent; see `Session.delegate`. It decides what the session may do, so `parent`,
   * `specs` and `config` are ignored. It must be in the same store.
   */
  readonly delegation?: NewSession['delegation'];
  /**
   * The environment that commands get, read again for each command. Default: the environment of this process. The state
   * folder and the trust always depend on the environment of this process.
   */
  readonly env?: () => { readonly [name: string]: string | undefined };
  /** True to run refused calls and only record the refusals, like `enforce: false`. Ignored with `session`. */
  readonly observe?: boolean;
  /** True to run shell tools without a sandbox if none is available. Every entry records that. */
  readonly unsafeNoSandbox?: boolean;
  /** Called with each entry after it is durable. */
  readonly onEntry?: (entry: Entry) => void;
  /** True to create spans with the optional package `@opentelemetry/api`; `contents` adds arguments and results. */
  readonly telemetry?: boolean | { readonly contents?: boolean };
  readonly inspector?: Inspector;
  readonly clock?: Clock;
  readonly ids?: IdGenerator;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isName = (value: unknown): boolean => isText(value) && !/[\p{Cc}\p{Cs}]/u.test(value as string);
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isSession = [isText, 'the id of a session'] as const;
const TRUE_OR_FALSE = [isBoolean, 'true or false'] as const;

/** The form of each option. */
const OPTIONS: { readonly [Name in keyof Required<OpenOptions>]: readonly [(value: unknown) => boolean, string] } = {
  specs: [(value) => isText(value) || isObject(value), 'a spec set, as loadSpecs returns it, or the path of one'],
  root: [isText, 'the path of a folder'],
  agent: [isName, 'the name of the agent, a text without control characters'],
  store: [
    (value) => isText(value) || hasMethods(value, 'acquire', 'append', 'entries', 'putBlob'),
    '"memory", a file or an evidence store',
  ],
  approver: [
    (value) => value === 'operator' || isFunction(value) || hasMethods(value, 'approve'),
    '"operator", a function or an object with the method approve',
  ],
  config: [isObject, 'an object with keys of a ProjectConfig'],
  trustConfig: TRUE_OR_FALSE,
  backends: [(value) => Array.isArray(value) || isFunction(value), 'a list of backends, or a function that returns it'],
  session: isSession,
  parent: isSession,
  delegation: [(value) => isText(fieldsOf(value)['entry']) && isText(fieldsOf(value)['session']), '{ entry, session }'],
  env: [isFunction, 'a function that returns the environment'],
  observe: TRUE_OR_FALSE,
  unsafeNoSandbox: TRUE_OR_FALSE,
  onEntry: [isFunction, 'a function'],
  telemetry: [(value) => isBoolean(value) || isObject(value), 'true, false or { contents }'],
  inspector: [(value) => hasMethods(value, 'actor', 'event', 'snapshot'), 'an object with the methods of an Inspector'],
  clock: [(value) => hasMethods(value, 'now'), 'an object with the method now'],
  ids: [(value) => hasMethods(value, 'next'), 'an object with the method next'],
};

function assertOptions(given: unknown): void {
  assertArgument(isObject(given), 'openSession: options', 'an object with root and agent', given);
  const options = fieldsOf(given);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined)
    throw new TypeError(
      `openSession has no option "${unknown}"; ${describeSimilarName(unknown, Object.keys(OPTIONS))}`,
    );
  for (const [name, [isRight, form]] of Object.entries(OPTIONS))
    if (options[name] !== undefined || name === 'root' || name === 'agent')
      assertArgument(isRight(options[name]), `openSession: ${name}`, form, options[name]);
  if (isObject(options['specs'])) assertSpecSet(options['specs'], 'openSession: specs');
}

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
  assertOptions(options);
  const root = realRepositoryRoot(options.root);
  const clock = options.clock ?? Date;
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

/** Parsing specs takes longer than the rest of opening a session, so its code is loaded only for a new session. */
async function pinOf(options: OpenOptions, root: string): Promise<SessionPin> {
  const [{ openProject }, { loadProjectConfig, statedConfigProblems }, { loadSpecs }] = await Promise.all([
    import('./project/open-project.ts'),
    import('./spec/load/load-project-config.ts'),
    import('./spec/load/load-specs.ts'),
  ]);
  const problems = statedConfigProblems(options.config ?? {});
  if (problems.length > 0) throw new SpecError(problems);
  const project = options.trustConfig
    ? { config: (await loadProjectConfig(root)).config, specs: null }
    : await openProject(root, process.env);
  const config: ProjectConfig = {
    ...project.config,
    ...options.config,
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
    const { name, tools } = fieldsOf(backend);
    const isBackend = isText(name) && Array.isArray(tools) && tools.every(isText) && hasMethods(backend, 'run');
    assertArgument(isBackend, `openSession: backends[${index}]`, '{ name, tools: [the ids], run(call) }', backend);
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
