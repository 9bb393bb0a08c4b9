import type { Body } from '../evidence/bodies.ts';
import type { ClaimType, EvidenceType } from '../evidence/entry.ts';
import type { PeripheralSpec } from '../spec/types.ts';

/** What each event claims to be in the thread (the table of the evidence tree). */
export const CLAIM_OF: { readonly [event in Body['event']]: ClaimType } = {
  'session-open': 'goal',
  start: 'goal',
  hop: 'step',
  mode: 'step',
  approval: 'step',
  step: 'step',
  intent: 'step',
  outcome: 'evidence',
  interrupted: 'evidence',
  par: 'evidence',
  stop: 'conclusion',
  denial: 'observation',
  expired: 'observation',
  'session-closed': 'observation',
};

/** Looking back is another type of evidence than work. */
export const looksBack = ({ fruit }: PeripheralSpec): boolean =>
  Object.values(fruit).some((field) => field.kind === 'observed' && field.from === 'par');

export function typeFor(event: Body['event'], peripheral: PeripheralSpec | undefined): EvidenceType {
  switch (event) {
    case 'hop':
    case 'approval':
      return 'gate-traversal';
    case 'mode':
      return 'mode-transition';
    case 'par':
      return 'reflection';
    default:
      return peripheral && looksBack(peripheral) ? 'reflection' : 'coordination';
  }
}

/** Who has to be the author: whoever asked; of a tool call, the agent. */
export function authorFor(body: Body, agent: string): string {
  switch (body.event) {
    case 'session-open':
      return body.agent;
    case 'expired':
      return 'clock';
    case 'approval':
      return body.record.by;
    case 'start':
    case 'stop':
    case 'hop':
    case 'mode':
    case 'session-closed':
      return body.by === 'agent' ? agent : body.by;
    default:
      return agent;
  }
}
