import { assertArgument, hasMethods } from './base/assert-argument.ts';
import { fieldsOf, isObject, textOf } from './base/json.ts';
import type { Entry } from './evidence/entry.ts';
import type { ApproveFunction } from './operator/approve-function.ts';
import type { Approver } from './ports/approver.ts';
import type { Clock } from './ports/clock.ts';
import type { EvidenceStore } from './ports/evidence-store.ts';
import type { IdGenerator } from './ports/ids.ts';
import type { Inspector } from './ports/inspector.ts';
import type { ToolBackend } from './ports/tool-backend.ts';
import type { NewSession } from './session/create-session.ts';
import { assertSpecSet } from './spec/assert-spec-set.ts';
import { describeSimilarName } from './spec/names.ts';
import type { ProjectConfig, SpecSet } from './spec/types.ts';

/** The options of `openSession`; only `root` and `agent` are required. */
export interface OpenOptions {
  /**
   * A loaded spec set or the path of one. Default: the spec set that the repository's hopgate.yaml names, else the
   * built-in spec set. The session freezes it and the config, so that no backend can change the rules for later calls.
   */
  readonly specs?: SpecSet | string;
  /** The repository. Tools see only files inside it. */
  readonly root: string;
  /** The agent's id, which is the author of its entries. */
  readonly agent: string;
  /** `memory`, a file for SQLite, or your own store. Default: SQLite in the state folder, outside the root. */
  readonly store?: 'memory' | (string & {}) | EvidenceStore;
  /**
   * Gives approvals. With `operator`, a call that needs an approval is refused while its request waits for `hopgate
   * approve`; the same call is allowed after a yes. Without an approver, such a call is always refused.
   */
  readonly approver?: Approver | ApproveFunction | 'operator';
  /**
   * How the repository is tested and shipped, in the form of {@link ProjectConfig}: the short forms of hopgate.yaml are
   * errors, except those of `mask`. Default: the repository's hopgate.yaml; if the file is not trusted, only its
   * restrictions.
   */
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

const isText = (value: unknown): boolean => textOf(value) !== null;
const isName = (value: unknown): boolean => isText(value) && !/[\p{Cc}\p{Cs}]/u.test(value as string);
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isSession = [isText, 'the id of a session'] as const;
const TRUE_OR_FALSE = [isBoolean, 'true or false'] as const;

type OptionForms<Options> = {
  readonly [Name in keyof Required<Options>]: readonly [(value: unknown) => boolean, string];
};

/** True for a backend of tools: a name, the ids of its tools and the method run. */
export function isToolBackend(value: unknown): value is ToolBackend {
  const { name, tools, close } = fieldsOf(value);
  const serves = isText(name) && Array.isArray(tools) && tools.every(isText) && hasMethods(value, 'run');
  return serves && (close === undefined || isFunction(close));
}
export const BACKEND_FORM = '{ name, tools: [the ids], run(call), close?() }';

/** The form of each option. */
export const OPEN_OPTION_FORMS: OptionForms<OpenOptions> = {
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

/** @throws TypeError with the name and the form of the first unknown or wrong option */
export function assertOpenOptions(given: unknown): void {
  assertArgument(isObject(given), 'openSession: options', 'an object with root and agent', given);
  assertOptions('openSession', OPEN_OPTION_FORMS, given, ['root', 'agent']);
  const { specs } = fieldsOf(given);
  if (isObject(specs)) assertSpecSet(specs, 'openSession: specs');
}

/**
 * @param of the name of the function that gets these options
 * @throws TypeError with the name and the form of the first unknown or wrong option
 */
export function assertOptions<Options>(
  of: string,
  forms: OptionForms<Options>,
  given: unknown,
  required: readonly string[] = [],
): void {
  assertArgument(isObject(given), `${of}: options`, 'an object', given);
  const names = Object.keys(forms);
  const unknown = Object.keys(given as object).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${of} has no option "${unknown}"; ${describeSimilarName(unknown, names)}`);
  const values = fieldsOf(given);
  for (const name of names) {
    const [isRight, form] = forms[name as keyof Options];
    if (values[name] !== undefined || required.includes(name))
      assertArgument(isRight(values[name]), `${of}: ${name}`, form, values[name]);
  }
}
