import type { Body } from '../../evidence/bodies.ts';
import type { Json } from '../../spec/types.ts';
import type { SessionState } from './session-state.ts';

export interface EventForMachine {
  readonly machine: 'mode' | 'hopGraph' | 'lifecycle';
  readonly type: string;
  readonly facts?: Json | null;
}

/** The machine events of an entry, in order; none if the entry causes no transition. Pure. */
export function machineEventsOf(
  body: Body,
  { lifecycle }: Pick<SessionState, 'lifecycle'>,
): readonly EventForMachine[] {
  switch (body.event) {
    case 'mode':
      return [{ machine: 'mode', type: body.how === 'transition' ? `to.${body.to}` : body.how, facts: body.facts }];
    case 'hop':
      return [{ machine: 'hopGraph', type: `${body.exit}.${body.to}`, facts: body.facts }];
    case 'start': {
      const entered: EventForMachine = { machine: 'hopGraph', type: `start.${body.peripheral}`, facts: body.facts };
      return [...(body.facts === null ? [] : [entered]), { machine: 'lifecycle', type: 'start' }];
    }
    case 'stop': {
      if (body.exit === null)
        return [
          { machine: 'lifecycle', type: 'stop' },
          { machine: 'hopGraph', type: 'stop' },
        ];
      return [{ machine: 'lifecycle', type: `exit.${body.exit}`, facts: { by: body.by, fruit: body.fruit } }];
    }
    case 'step':
    case 'intent': {
      const step: EventForMachine = { machine: 'lifecycle', type: 'step' };
      return lifecycle === 'interrupted' ? [{ machine: 'lifecycle', type: 'resume' }, step] : [step];
    }
    case 'interrupted':
      return lifecycle === 'active' ? [{ machine: 'lifecycle', type: 'interrupt' }] : [];
    case 'expired':
      return lifecycle === 'active' ? [{ machine: 'lifecycle', type: 'expire' }] : [];
    case 'session-closed':
      return [{ machine: 'hopGraph', type: 'close' }];
    default:
      return [];
  }
}
