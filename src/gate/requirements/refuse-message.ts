import type { Mode, ModeGateSpec, Principal, ToolEffect } from '../../spec/types.ts';

interface MessageRefusal {
  readonly code: 'mode-forbids' | 'clock-asks-nothing';
  readonly message: string;
  readonly remedy: string;
}

/**
 * Decides whether a session may get a message that asks for an effect. The mode of the recipient must allow the effect,
 * for every sender. The clock may send only coordination. A message never changes the mode. Pure.
 * @returns null if the message may be delivered
 */
export function refuseMessage(
  modeGate: ModeGateSpec | null,
  mode: Mode | null,
  {
    asks,
    by,
    to,
    isAway,
  }: {
    readonly asks: ToolEffect;
    readonly by: Principal;
    /** Null for a new session. */
    readonly to: string | null;
    /** True if the recipient is a session of another machine. */
    readonly isAway: boolean;
  },
): MessageRefusal | null {
  if (by === 'clock' && asks !== 'coordinate')
    return {
      code: 'clock-asks-nothing',
      message: 'the clock asked for an action',
      remedy: 'Send it as a person or as an agent.',
    };
  if (isAway && asks !== 'coordinate')
    return {
      code: 'mode-forbids',
      message: `the message asks for an action (${asks}), and the mode of a recipient on another machine is not known here`,
      remedy: 'Send it from that machine, or say what you need without asking for the action.',
    };
  if (!modeGate || mode === null || modeGate.effects[mode]?.includes(asks)) return null;
  const modes = Object.keys(modeGate.effects).filter((each) => modeGate.effects[each]?.includes(asks));
  return {
    code: 'mode-forbids',
    message: `the message asks for an action (${asks}), and ${to ?? 'a new session'} is in ${mode}`,
    remedy:
      modes.length === 0
        ? 'No mode of the recipient allows it; ask a person.'
        : `${to === null ? 'Send it to a session that is' : `Send it again to ${to} when that is`} in ${modes.join(' or ')}, or say what you need without asking for the action.`,
  };
}
