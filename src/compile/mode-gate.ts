import { transitionRequirements } from '../gate/requirements/edge-requirements.ts';
import type { Requirement } from '../gate/requirements/requirement.ts';
import { effectsOfMode, listModesOfGate } from '../spec/mode-way.ts';
import type { ModeGateSpec } from '../spec/types.ts';
import { guardedTransition, tagsProperty } from './guarded-transition.ts';
import type { MachineJson, StateJson, TransitionJson } from './machine-json.ts';

const BY_OPERATOR: Requirement = { kind: 'principal', is: 'operator' };

/**
 * Compiles the mode gate. States: one per mode. Events: `to.<mode>` for each allowed transition; from every mode
 * `reset` (the operator) and, with a time limit, `timeout` (the clock). The tags of a mode are its allowed effects.
 * Pure.
 */
export function compileModeGate(modeGate: ModeGateSpec): MachineJson {
  const states: { [mode: string]: StateJson } = {};
  for (const mode of listModesOfGate(modeGate)) {
    const on: { [event: string]: TransitionJson } = {};
    for (const transition of modeGate.transitions.filter(({ from }) => from === mode))
      on[`to.${transition.to}`] = guardedTransition(mode, transition.to, transitionRequirements(transition));
    on.reset = guardedTransition(mode, modeGate.reset, [BY_OPERATOR]);
    if (modeGate.timeoutMinutes !== null)
      on.timeout = guardedTransition(mode, modeGate.reset, [{ kind: 'principal', is: 'clock' }]);
    const effects = effectsOfMode(modeGate, mode);
    states[mode] = { description: `allows: ${effects.join(', ') || 'nothing'}`, ...tagsProperty(effects), on };
  }
  return { id: 'mode-gate', initial: modeGate.initial, states };
}
