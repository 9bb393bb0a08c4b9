import type { Edge, Mode } from '../../src/spec/types.ts';
import { fixtureSpecs } from '../fixture-specs.ts';

export const specs = fixtureSpecs;

/** The model: the state of a session over the fixture specs in a few fields. */
export interface Model {
  peripheral: string | null;
  mode: Mode;
  steps: number;
  approves: boolean;
  begun: boolean;
  /** Minutes since the visit began. */
  age: number;
  /** A step succeeded since the last review. */
  natural: boolean;
  /** The verdicts of the test runs since the last change: in this session, and the last of this visit. */
  verdicts: Set<'pass' | 'fail'>;
  seen: 'pass' | 'fail' | null;
  last: 'pass' | 'fail' | null;
  /** True if edit was left, the last time with a commit message. */
  edited: boolean;
  wrote: boolean;
}

export const opening = (): Model => ({
  peripheral: null,
  mode: 'discuss',
  steps: 0,
  approves: true,
  begun: false,
  age: 0,
  natural: false,
  verdicts: new Set(),
  seen: null,
  last: null,
  edited: false,
  wrote: false,
});

const EFFECTS = {
  discuss: ['coordinate'],
  diagnose: ['observe', 'coordinate'],
  execute: ['observe', 'act', 'coordinate'],
} as const;

export const mayStep = ({ peripheral, mode, age }: Model, tool: string): boolean =>
  peripheral !== null &&
  specs.peripherals[peripheral]!.tools.includes(tool) &&
  (EFFECTS[mode as keyof typeof EFFECTS] as readonly string[]).includes(specs.tools[tool]!.effect) &&
  age < (specs.peripherals[peripheral]!.limits.minutes ?? Number.POSITIVE_INFINITY);

export const mayGo = ({ mode, approves }: Model, to: Mode): boolean =>
  (mode === 'discuss' && to === 'diagnose') ||
  (mode === 'diagnose' && to === 'execute' && approves) ||
  (mode === 'execute' && to === 'discuss');

export const mayStart = ({ peripheral, begun }: Model, id: string): boolean =>
  peripheral === null &&
  specs.peripherals[id]!.entry.sources.some(({ kind }) => kind === (begun ? 'session-close' : 'default'));

/** `wrote`: whether this very hop states a commit message. */
export function mayHop(model: Model, exit: string, to: string, wrote: boolean): boolean {
  const edge = specs.edges.find((each) => each.from === model.peripheral && each.exit === exit && each.to === to);
  if (!edge || exit === 'user-request') return false;
  const result = model.verdicts.size === 2 && model.seen !== null ? 'flaky' : model.seen;
  if (edge.implies && edge.implies.value !== result) return false;
  if (!edge.sources.some((source) => ['from', 'from-any'].includes(source.kind))) return false;
  const message = model.peripheral === 'edit' ? wrote : model.wrote;
  const edited = model.edited || model.peripheral === 'edit';
  if (to === 'reflect') return model.natural;
  if (to === 'test') return edited;
  return to !== 'deploy' || (model.last === 'pass' && model.verdicts.size === 1 && message && model.approves);
}

/** The state after an allowed hop or stop. */
export function leave(model: Model, to: string | null, wrote: boolean): void {
  if (model.peripheral === 'edit') Object.assign(model, { edited: true, wrote });
  if (model.peripheral === 'reflect') model.natural = false;
  Object.assign(model, { peripheral: to, age: 0, seen: null });
}

/** The state after an allowed step. */
export function took(model: Model, tool: string, verdict: 'pass' | 'fail'): void {
  model.steps += 1;
  model.natural = true;
  if (tool === 'write') Object.assign(model, { verdicts: new Set(), last: null });
  if (tool !== 'bash-test') return;
  model.verdicts.add(verdict);
  Object.assign(model, { seen: verdict, last: verdict });
}

/** The state after so many minutes. */
export function passed(model: Model, minutes: number): void {
  model.age += minutes;
  if (minutes >= specs.modeGate!.timeoutMinutes!) model.mode = 'discuss';
}

export const edgesFrom = (peripheral: string | null): readonly Edge[] =>
  specs.edges.filter(({ from }) => from === peripheral);
