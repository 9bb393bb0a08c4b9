import type { Body } from './bodies.ts';
import type { ClaimType } from './entry.ts';

export const CLAIM_TYPE_OF_EVENT: { readonly [event in Body['event']]: ClaimType } = {
  'session-open': 'goal',
  start: 'goal',
  hop: 'step',
  delegation: 'step',
  mode: 'step',
  approval: 'step',
  grant: 'step',
  'grant-end': 'step',
  note: 'observation',
  step: 'step',
  intent: 'step',
  outcome: 'evidence',
  interrupted: 'evidence',
  par: 'evidence',
  stop: 'conclusion',
  denial: 'observation',
  expired: 'observation',
  message: 'observation',
  receipt: 'observation',
  'session-closed': 'observation',
};
