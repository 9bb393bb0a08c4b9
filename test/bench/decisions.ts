import { transition } from 'xstate';
import { compileSpecs } from '../../src/compile/index.ts';
import { initialSnapshot } from '../../src/compile/machine.ts';
import { decide } from '../../src/gate/decide.ts';
import type { GateContext } from '../../src/gate/request.ts';
import { initialSessionState } from '../../src/session/state/session-state.ts';
import { sessionViewOf } from '../../src/session/state/view-of-state.ts';
import { loadSpecs } from '../../src/spec/load/load-specs.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import { type Pace, paceOf } from './pace.ts';

const repeat = (times: number, work: () => void): Promise<Pace> =>
  paceOf(times, () => {
    for (let index = 0; index < times; index++) work();
  });

const specs = await loadSpecs('default');
const compiled = compileSpecs(specs);
const outside = sessionViewOf(compiled, initialSessionState(compiled, 's'), 0);
const context: GateContext = {
  specs,
  config: DEFAULT_PROJECT_CONFIG,
  unsafeNoSandbox: false,
  view: {
    ...outside,
    root: '/repository',
    mode: 'diagnose',
    visit: { peripheral: 'explore', status: 'active', steps: 3, denials: 0, deadline: null, observedFruit: {} },
  },
};

/** Calls of `decide` with one observing step. */
export function decisions(times = 20_000): Promise<Pace> {
  return repeat(times, () => {
    const decision = decide(context, { kind: 'step', tool: 'read', args: { path: 'src/gate/decide.ts' } });
    if (!decision.ok) throw new Error(decision.denial.message);
  });
}

/** Calls of xstate's own pure `transition`, of a machine as small as a visit's. */
export function transitions(times = 20_000): Promise<Pace> {
  const machine = compiled.lifecycle['explore'];
  if (!machine) throw new Error('the built-in specs have no explore');
  const [active] = transition(machine, initialSnapshot(machine), { type: 'start' });
  return repeat(times, () => {
    const [next] = transition(machine, active, { type: 'step' });
    if (next.value !== 'active') throw new Error(`a step leads to ${String(next.value)}`);
  });
}
