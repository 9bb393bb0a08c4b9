import type { ApprovalBody, HopBody, IntentBody, StopBody } from '../evidence/bodies.ts';
import type { Json, Mode, PeripheralSpec, ProjectConfig, ScopeRule, SpecSet } from '../spec/types.ts';
import type { Fields } from './json.ts';
import { TestRuns } from './test-runs.ts';
import { Yield } from './yield.ts';

/** What a session was pinned to. */
export interface Pinned {
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
}

/** One stay in a peripheral, as the evidence tells it. */
export interface Visit {
  readonly peripheral: string;
  /** undefined: the spec has no such peripheral. */
  readonly spec: PeripheralSpec | undefined;
  readonly scope: ScopeRule;
  readonly deadline: number | null;
  readonly yields: Yield;
  steps: number;
  denials: number;
  headId: string;
  expired: boolean;
}

export type Standing = 'selected' | 'held' | 'failed';

/** Everything that later entries are judged by. It grows with what a session touches, never with how long it goes on. */
export class Ledger {
  readonly pinned: Pinned;
  sessionId = '';
  agent = '';
  root = '/';
  openedId = '';
  opened = false;
  unsafe = false;
  closed = false;
  mode: Mode | null;
  visit: Visit | null = null;
  visits: Record<string, number> = {};
  lastId: string | null = null;
  lastAt = 0;
  /** The last entry but those of a deadline that passed: how long the mode has been idle. */
  activeAt = 0;
  steps = 0;
  denials = 0;
  successes = 0;
  /** Successes as they stood before the review that has just been recorded. */
  successesBeforeReview: number | null = null;
  pending: { readonly id: string; readonly body: IntentBody; readonly outside: string | null } | null = null;
  /** The stop that the next entry, a hop, has to take up. */
  leaving: {
    readonly visit: Visit;
    readonly body: StopBody;
    readonly backpack: Fields;
    readonly successes: number;
  } | null = null;
  /** The hop that the next entry, a start, has to take up. */
  hop: {
    readonly id: string;
    readonly body: HopBody;
    readonly approval: ApprovalBody | null;
    readonly backpack: Fields;
  } | null = null;
  approval: { readonly id: string; readonly body: ApprovalBody } | null = null;
  readonly usedNonces = new Set<string>();
  readonly usedApprovals = new Set<string>();
  change = 0;
  changes: Record<string, string | null> = {};
  readonly runs = new TestRuns();
  readonly files = new Set<string>();
  patterns: Record<string, Standing> = {};
  /** The entry that last selected each pattern. */
  readonly selections = new Map<string, string>();
  backpack: Record<string, Json> = {};
  fruits: Record<string, Fields> = {};

  constructor(pinned: Pinned) {
    this.pinned = pinned;
    this.mode = pinned.specs.gate?.initial ?? null;
  }

  enter(peripheral: string, id: string, deadline: number | null): void {
    const spec = Object.hasOwn(this.pinned.specs.peripherals, peripheral)
      ? this.pinned.specs.peripherals[peripheral]
      : undefined;
    this.runs.forget(this.change);
    this.visit = {
      peripheral,
      spec,
      scope: scopeOf(spec, this.pinned.config),
      deadline,
      yields: new Yield(),
      steps: 0,
      denials: 0,
      headId: id,
      expired: false,
    };
    this.visits[peripheral] = (this.visits[peripheral] ?? 0) + 1;
  }

  get visited(): boolean {
    return Object.keys(this.visits).length > 0;
  }
}

const NOTHING: ScopeRule = { read: 'none', write: [], command: 'none', url: 'none' };

/** A peripheral's reach in this repository: where the spec grants writing at all, hopgate.yaml may name the places. */
export function scopeOf(spec: PeripheralSpec | undefined, { scopes }: ProjectConfig): ScopeRule {
  if (!spec) return NOTHING;
  const { rule } = spec.scope;
  const own = Object.hasOwn(scopes, spec.id) ? scopes[spec.id] : undefined;
  return own && rule.write.length > 0 ? { ...rule, write: own } : rule;
}
