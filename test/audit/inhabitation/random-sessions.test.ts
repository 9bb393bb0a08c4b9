import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentCall } from '../../../src/adapters/core/agent-session.ts';
import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { recordTranscript } from '../../../src/adapters/core/transcript/record-transcript.ts';
import { judgeInhabitation } from '../../../src/audit/inhabitation/judge-inhabitation.ts';
import { parseTranscript } from '../../../src/evidence/transcript.ts';
import { depth } from '../../depth.ts';
import { fixtureSpecs, inTurn, stage, testRun } from '../../session/sessions.ts';
import { Items } from './inhabited-sessions.ts';

const refusing = {
  outcome: {
    status: 'refused' as const,
    code: 'out-of-scope' as const,
    message: 'a link leaves the root',
    remedy: 'x',
  },
  effects: [],
};
const failing = { outcome: { status: 'failed' as const, code: 'no-file', message: 'no such file' }, effects: [] };

const peripherals = Object.keys(fixtureSpecs.peripherals);
const exits = Object.values(fixtureSpecs.peripherals).flatMap(({ exits }) => exits.map(({ name }) => name));
const text = fc.constantFrom('', 'src/a.ts', 'a', 'x'.repeat(3000), '…', 'ü\u0000\ud800');
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const call: fc.Arbitrary<AgentCall> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constant('hop'),
      input: fc.record({
        to: fc.constantFrom(...peripherals, 'nowhere'),
        exit: maybe(fc.constantFrom(...exits)),
        reason: text,
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constant('hop'),
      input: fc.record({ hop: fc.constantFrom(...peripherals), reason: text, summary: maybe(text) }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant('mode'),
      input: fc.record({
        to: fc.constantFrom('discuss', 'diagnose', 'execute', 'x'),
        summary: maybe(text),
        reason: maybe(text),
      }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      name: fc.constantFrom(...Object.keys(fixtureSpecs.tools), 'no-such'),
      input: fc.record({
        path: maybe(text),
        old: maybe(text),
        new: maybe(text),
        content: maybe(text),
        pattern: maybe(text),
        command: maybe(text),
        name: maybe(text),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constantFrom('read', 'edit', 'status', 'why', 'hop', 'mode'),
      input: fc.oneof(
        fc.anything(),
        fc.array(text),
        fc.record({ to: fc.anything(), hop: fc.anything() }, { requiredKeys: [] }),
      ),
    }),
  },
);

it('an agent that only makes calls fails no demand, whatever the calls and results are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 1, maxLength: 25 }),
      fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      fc.boolean(),
      async (calls, answers, named) => {
        const ids: string[] = [];
        const { session } = await stage({
          approver: inTurn(...answers.map((yes) => (yes ? { by: 'mary' } : { pending: 'abcdef' }))),
          results: { grep: refusing, write: refusing, glob: failing, 'bash-test': testRun('pass') },
          onEntry: ({ id }) => ids.push(id),
        });
        const items = new Items();
        const agent = recordTranscript(agentSession(session), items, named ? { evidence: () => ids.splice(0) } : {});
        await agent.prompt();
        for (const one of calls) {
          await agent.call(one);
          await agent.tools();
        }
        const text = items.items.map((item) => `${JSON.stringify(item)}\n`).join('');
        const read = parseTranscript(text);
        expect(read.problems).toEqual([]);
        const judged = judgeInhabitation(read, fixtureSpecs, await session.evidence());
        const wrong = judged.filter(
          ({ id, verdict }) => ['P-1', 'P-2', 'P-3', 'P-6'].includes(id) && verdict === 'fails',
        );
        expect(wrong).toEqual([]);
      },
    ),
    { numRuns: depth(25, 150) },
  );
});
