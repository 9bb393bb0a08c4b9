import { describe, expect, it } from 'vitest';
import { drive, inhabit, judge, roundTrip } from './inhabited-sessions.ts';

describe('an agent that works inside a session', () => {
  it.each([true, false])(
    'passes the round trip and P-1 to P-6 (entries named by the recorder: %s)',
    async (withEvidence) => {
      const { session, items } = await inhabit({ withEvidence });
      expect((await roundTrip(session)).violations).toEqual([]);
      const { verdicts, reasons } = await judge(session, items.transcript);
      expect(reasons).toEqual([]);
      expect(verdicts).toEqual({
        'P-1': 'holds',
        'P-2': 'holds',
        'P-3': 'holds',
        'P-4': 'holds',
        'P-5': 'holds',
        'P-6': 'holds',
      });
    },
  );
});

describe('a script that calls start, step and stop itself', () => {
  it('passes the round trip, but fails P-1 to P-5', async () => {
    const { session } = await drive();
    expect((await roundTrip(session)).violations).toEqual([]);
    expect((await judge(session)).verdicts).toEqual({
      'P-1': 'fails',
      'P-2': 'fails',
      'P-3': 'fails',
      'P-4': 'fails',
      'P-5': 'fails',
      'P-6': 'not-applicable',
    });
  });
});
