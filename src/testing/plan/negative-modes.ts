import type { AuditRequest } from '../../audit/rules/audit-request.ts';
import type { AuditedPin, AuditState } from '../../audit/rules/audit-state.ts';
import { listModesOfGate } from '../../spec/mode-way.ts';
import type { Move } from './move.ts';
import { moveOfRequest } from './moves.ts';

/** Mode changes that the gate lacks, or does not allow to this principal; without a gate, any mode change. */
export function modeChangesLikelyRefused({ specs }: AuditedPin, { mode }: AuditState): readonly Move[] {
  const { modeGate } = specs;
  if (!modeGate || mode === null)
    return [
      moveOfRequest('a mode without a gate', { kind: 'mode', to: 'execute', by: 'agent', approves: true }),
      moveOfRequest('a reset without a gate', {
        kind: 'mode',
        to: 'discuss',
        by: 'operator',
        reset: true,
        approves: true,
      }),
    ];
  const to = (target: string, more: Partial<Extract<AuditRequest, { kind: 'mode' }>> = {}): AuditRequest => ({
    kind: 'mode',
    to: target,
    by: 'agent',
    summary: 'so far',
    approves: true,
    ...more,
  });
  const away = modeGate.transitions.find(({ from }) => from === mode);
  return [
    moveOfRequest('a mode that does not exist', to('panic')),
    moveOfRequest('a reset to a mode that does not exist', to('panic', { reset: true, by: 'operator' })),
    ...listModesOfGate(modeGate)
      .filter(
        (target) => target === mode || !modeGate.transitions.some((one) => one.from === mode && one.to === target),
      )
      .map((target) => moveOfRequest(`mode ${mode} → ${target}`, to(target))),
    moveOfRequest('reset by the agent', to(modeGate.reset, { reset: true })),
    ...listModesOfGate(modeGate)
      .filter((target) => target !== modeGate.reset)
      .flatMap((target) => [
        moveOfRequest(`reset to ${target}`, to(target, { reset: true, by: 'operator' })),
        moveOfRequest(`mode ${target} by the clock`, to(target, { by: 'clock' })),
      ]),
    ...(mode === modeGate.reset
      ? [moveOfRequest('a reset in the mode that it leads to', to(modeGate.reset, { reset: true, by: 'operator' }))]
      : []),
    ...(away?.summary ? [moveOfRequest(`mode ${away.to} without a summary`, to(away.to, { summary: ' ' }))] : []),
    ...(away?.approval ? [moveOfRequest(`mode ${away.to} without approval`, to(away.to, { approves: false }))] : []),
  ];
}
