import { fieldsOf } from '../base/json.ts';
import { excerpt } from '../base/text.ts';
import { compileSpecTables, type SpecTables } from '../compile/spec-tables.ts';
import { type Body, toBody } from '../evidence/bodies.ts';
import type { StoredEntry } from '../evidence/entry.ts';
import { availableActions } from '../gate/available-actions.ts';
import { decide } from '../gate/decide.ts';
import type { GateContext, Request } from '../gate/request.ts';
import { isObserveOnly } from '../gate/scope/observe-only.ts';
import type { SessionPin } from '../session/pin.ts';
import { applyEntry, FoldError } from '../session/state/apply-entry.ts';
import { changedPathsIn } from '../session/state/observations.ts';
import { initialSessionState, type SessionState } from '../session/state/session-state.ts';
import { sessionViewOf } from '../session/state/view-of-state.ts';
import { effectsOfMode } from '../spec/mode-way.ts';
import type { Mode, SpecSet, ToolEffect } from '../spec/types.ts';
import { cacheKeyOfHopOptions, judgedHopOptions } from './hop-options.ts';
import { type OptionalJsonFields, summariseValue } from './summarise-value.ts';
import { type ThreadRow, ThreadRows } from './thread-rows.ts';
import {
  EMPTY_VIEW_STATE,
  type EntryRow,
  type ViewFrame,
  type ViewHop,
  type ViewState,
  viewDeltaOf,
} from './view-state.ts';

/** Maximum lengths of a row's texts, in characters; the entries have the full texts. */
const MAX_LENGTH = { action: 240, result: 400, note: 300 };
const MAX_COUNT = { notes: 12, paths: 8, trail: 12, options: 64 };

const strongestEffect = ({ modeGate }: SpecSet, mode: Mode | null): ToolEffect | null =>
  (modeGate && mode !== null ? STRENGTH.find((each) => effectsOfMode(modeGate, mode).includes(each)) : null) ?? null;
const STRENGTH = ['act', 'simulate', 'observe', 'coordinate'] as const;

type Options = Pick<ViewState, 'tools' | 'modes' | 'ways'>;

/**
 * Turns a session's entries into frames, one by one: the row of each entry, and the changes of the state that a person
 * sees. The state is computed as in the session itself, and the gate judges every exit. Pure; the frames are JSON.
 */
export class SessionFrames {
  readonly #tables: SpecTables;
  readonly #pin: SessionPin;
  readonly #rows: ThreadRows;
  #state: SessionState;
  #shown: ViewState = EMPTY_VIEW_STATE;
  #passedBefore = false;
  #broken = false;

  /** @param begin the state to continue from, and the position of its first row; null to begin with the first entry */
  constructor(
    pin: SessionPin,
    sessionId: string,
    begin: { readonly state: SessionState; readonly from: number } | null = null,
  ) {
    this.#pin = pin;
    this.#tables = compileSpecTables(pin.specs);
    this.#state = begin?.state ?? initialSessionState(this.#tables, sessionId);
    const { tools } = pin.specs;
    const order = (tool: string) =>
      Object.hasOwn(tools, tool) ? tools[tool]!.parameters.map(({ name }) => name) : null;
    this.#rows = new ThreadRows(order, { joinApprovals: true, from: begin?.from ?? 0 });
    if (begin === null) return;
    const { lastAt } = begin.state.facts;
    const context = this.#context(lastAt);
    this.#passedBefore = context.view.tests.passed;
    this.#shown = this.#view(null, lastAt, context, []);
  }

  /** The frame of an entry whose changes the first state already includes: its row alone. */
  addPast({ entry }: StoredEntry): ViewFrame {
    const { row, replaces } = this.#rows.add(entry);
    const at = Date.parse(entry.at);
    const taken = replaces.length > 0 ? { replaces: replaces.map(({ key }) => key) } : {};
    return { seq: entry.seq, at, event: row.event, row: viewRow(row, at), ...taken, delta: {} };
  }

  /** The state after the last entry. */
  get state(): ViewState {
    return this.#shown;
  }

  /** The `seq` of the last entry; -1 before the first. */
  get seq(): number {
    return this.#state.head.seq;
  }

  add(stored: StoredEntry): ViewFrame {
    const { entry } = stored;
    const at = Date.parse(entry.at);
    const body = toBody(entry.body);
    const lit = body?.event === 'denial' ? this.#wayOf(body, at) : [];
    this.#fold(stored);
    const context = this.#context(at);
    this.#passedBefore ||= context.view.tests.passed;
    const before = this.#shown;
    this.#shown = this.#view(body, at, context, lit);
    const { row, replaces } = this.#rows.add(entry);
    return {
      seq: entry.seq,
      at,
      event: row.event,
      row: viewRow(row, at),
      ...(replaces.length > 0 ? { replaces: replaces.map(({ key }) => key) } : {}),
      delta: viewDeltaOf(before, this.#shown),
    };
  }

  /** Applies an entry to the state. From an altered entry on, the state no longer changes, and only rows are added. */
  #fold(stored: StoredEntry): void {
    if (!this.#broken) {
      try {
        this.#state = applyEntry(this.#tables, this.#state, stored);
        return;
      } catch (error) {
        if (!(error instanceof FoldError)) throw error;
        this.#broken = true;
      }
    }
    const { seq, hash } = stored.entry;
    this.#state = { ...this.#state, head: { seq, hash } };
  }

  #context(now: number): GateContext {
    const { specs, config } = this.#pin;
    const { unsafeNoSandbox } = this.#state.facts;
    const observed = isObserveOnly({ config }) ? { observeOnly: true } : {};
    return { specs, config, unsafeNoSandbox, view: { ...sessionViewOf(this.#tables, this.#state, now), ...observed } };
  }

  /** The path that the gate suggests after a refused request. */
  #wayOf(body: Extract<Body, { event: 'denial' }>, now: number): readonly ViewHop[] {
    const { kind } = body.request;
    if (!['step', 'hop', 'start'].includes(String(kind))) return [];
    const decision = decide(this.#context(now), body.request as unknown as Request);
    return decision.ok ? [] : (decision.denial.way ?? []).map(({ from, to }) => ({ from, to }));
  }

  #view(body: Body | null, at: number, context: GateContext, lit: readonly ViewHop[]): ViewState {
    const { facts } = this.#state;
    const { view } = context;
    const { trail, par } = this.#shown;
    const path = body?.event === 'step' || body?.event === 'outcome' ? changedPathsIn(body.effects).at(-1) : undefined;
    return {
      agent: excerpt(facts.agent, 80),
      root: excerpt(facts.root, 300),
      peripheral: view.visit?.peripheral ?? null,
      visit: view.visit?.status ?? null,
      deadline: view.visit?.deadline ?? null,
      mode: view.mode,
      observeOnly: isObserveOnly(context),
      reach: strongestEffect(this.#pin.specs, view.mode),
      closed: view.closed,
      steps: view.steps,
      denials: view.denials,
      running: facts.pending?.tool ?? null,
      ...this.#judge(context),
      trail: body?.event === 'start' ? [...trail, { peripheral: body.peripheral, at }].slice(-MAX_COUNT.trail) : trail,
      lit,
      tests: { passed: view.tests.passed, count: view.tests.count, failed: view.tests.failed },
      changed: path === undefined ? this.#shown.changed : { path: excerpt(path, 300), at },
      par: {
        count: par.count + (body?.event === 'par' ? 1 : 0),
        at: body?.event === 'par' ? at : par.at,
        due: facts.successes > 0,
      },
      backpack: this.#backpack(),
      files: filesAfter(this.#shown.files, body),
    };
  }

  #optionsByKey = new Map<string, Options>();
  #options: Options = { tools: [], modes: [], ways: [] };

  /** The possible actions of the session. They are judged again only if something changed that they depend on. */
  #judge(context: GateContext): Options {
    // No action can be requested before the running tool ends.
    if (this.#state.facts.pending !== null) return this.#options;
    const key = cacheKeyOfHopOptions(context, this.#passedBefore);
    const known = key === null ? undefined : this.#optionsByKey.get(key);
    const { tools, modes } = known ?? availableActions(this.#pin.specs, context.view);
    this.#options = known ?? { tools, modes, ways: judgedHopOptions(context, this.#passedBefore) };
    if (this.#optionsByKey.size >= MAX_COUNT.options) this.#optionsByKey.clear();
    if (key !== null) this.#optionsByKey.set(key, this.#options);
    return this.#options;
  }

  #packed: { from: SessionState['facts']['backpack']; shown: { [field: string]: string } } | null = null;

  #backpack(): { readonly [field: string]: string } {
    const { backpack } = this.#state.facts;
    if (this.#packed?.from !== backpack) {
      const shown = Object.fromEntries(
        Object.entries(backpack).map(([field, value]) => [excerpt(field, 80), summariseValue(value)]),
      );
      this.#packed = { from: backpack, shown };
    }
    return this.#packed.shown;
  }
}

function filesAfter(files: ViewState['files'], body: Body | null): ViewState['files'] {
  if ((body?.event !== 'step' && body?.event !== 'outcome') || body.effects === 'unobserved') return files;
  const paths = new Set(changedPathsIn(body.effects));
  const changed = body.effects.filter(({ path }) => paths.has(path)).map(({ path, op }) => [excerpt(path, 300), op]);
  return changed.length === 0 ? files : { ...files, ...Object.fromEntries(changed) };
}

function viewRow(row: ThreadRow, at: number): EntryRow {
  const notes = row.notes.filter((note) => !note.startsWith('→ '));
  const bodies = row.entries.map(({ body }) => fieldsOf(body));
  const denial = bodies.find(({ event }) => event === 'denial');
  const would = fieldsOf(bodies.find(({ wouldRefuse }) => wouldRefuse !== undefined)?.['wouldRefuse']);
  const refusal: OptionalJsonFields | undefined = denial ?? ('code' in would ? would : undefined);
  const request = fieldsOf(denial?.['request'] ?? null);
  const tool = bodies.map((body) => body['tool']).find((name) => typeof name === 'string') ?? request['tool'];
  const optional = {
    result: excerpt(row.result, MAX_LENGTH.result),
    notes: notes.slice(0, MAX_COUNT.notes).map((note) => excerpt(note, MAX_LENGTH.note)),
    remedy: refusal ? excerpt(String(refusal['remedy'] ?? ''), MAX_LENGTH.result) : '',
    wouldRefuse: refusal === would ? excerpt(String(would['message'] ?? ''), MAX_LENGTH.result) : '',
    depth: row.depth,
    state: excerpt(row.state ?? '', 20),
    paths: pathsOf(bodies, request),
  };
  return {
    key: row.key,
    seqs: row.entries.map(({ seq }) => seq),
    event: row.event,
    ...(row.mark === null ? {} : { mark: row.mark }),
    action: excerpt(row.action, MAX_LENGTH.action),
    at: row.entries.length === 1 ? at : Date.parse(row.entries[0]!.at),
    ...(row.durationMs === null ? {} : { durationMs: row.durationMs }),
    peripheral: row.entries.at(-1)!.peripheral,
    ...(typeof tool === 'string' ? { tool: excerpt(tool, 80) } : {}),
    ...(refusal ? { code: excerpt(String(refusal['code']), 80) } : {}),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => !isEmpty(value))),
  };
}

const isEmpty = (value: string | number | readonly string[]): boolean =>
  value === 0 || (typeof value !== 'number' && value.length === 0);

/** The files that a row names: in its arguments, and as effects. */
function pathsOf(bodies: readonly OptionalJsonFields[], request: OptionalJsonFields): readonly string[] {
  const named = [...bodies.map(({ args }) => args), request['args']].map((args) => fieldsOf(args)['path']);
  const changed = bodies.flatMap(({ effects }) =>
    Array.isArray(effects) ? effects.slice(0, MAX_COUNT.paths).map((effect) => fieldsOf(effect)['path']) : [],
  );
  const paths = [...named, ...changed].filter((path) => typeof path === 'string');
  return [...new Set(paths)].slice(0, MAX_COUNT.paths).map((path) => excerpt(path, 300));
}
