import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyToAuditState } from '../../src/audit/rules/apply-to-audit-state.ts';
import type { AuditRequest } from '../../src/audit/rules/audit-request.ts';
import { initialAuditState } from '../../src/audit/rules/audit-state.ts';
import { findFirstRuleProblem } from '../../src/audit/rules/find-rule-problems.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import { edgesFromPeripheral } from '../../src/spec/edges-from.ts';
import type { Json } from '../../src/spec/types.ts';
import { sendRequest } from '../../src/testing/model/send-request.ts';
import { depth } from '../depth.ts';
import { SPECS, world } from './audited-session.ts';

const all = Object.values(SPECS.peripherals);
const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const by = fc.constantFrom('agent', 'agent', 'agent', 'operator');
const peripheral = fc.oneof(
  { weight: 20, arbitrary: pick(...all.map(({ id }) => id)) },
  pick('nowhere', 'constructor'),
);
const exitName = fc.oneof(
  { weight: 20, arbitrary: pick(...all.flatMap(({ exits }) => exits.map(({ name }) => name))) },
  pick('away'),
);
const reason = fc.oneof(
  exitName.map((name) => name.replaceAll('-', ' ')),
  pick('on', ' ', 'Found target file: ok'),
);
type Way = { readonly namesExit: boolean } & (
  | { readonly edge: number }
  | { readonly to: string; readonly exit: string }
);

/** An edge of the present peripheral, by number; or any two names. */
const way: fc.Arbitrary<Way> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ edge: fc.nat(), namesExit: fc.boolean() }) },
  fc.record({ to: peripheral, exit: exitName, namesExit: fc.boolean() }),
);
/** Not the PAR: the audit knows it only from its entry, which the session writes when it leaves the visit. */
const field = fc.oneof(
  { weight: 10, arbitrary: pick(...all.flatMap((each) => Object.keys(each.fruit).filter((name) => name !== 'par'))) },
  pick('nonsense', 'constructor'),
);
const value = pick<Json>('x', 'fix: a bug', '', 7, true, null, ['src/a.ts'], {}, 'pass');
const fruit = fc.option(fc.dictionary(field, value, { maxKeys: 2 }), { nil: undefined, freq: 2 });

const mode = pick('discuss', 'diagnose', 'execute');

const step = pick(
  { tool: 'read', args: { path: 'src/a.ts' } },
  { tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } },
  { tool: 'bash-test', args: {} },
  { tool: 'bash-git', args: { sub: 'commit', args: ['-m', 'fix: a bug'] } },
);

/** Requests about visits and modes, and a few steps that let the session get further. */
const request = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('hop'), way, reason, fruit, by }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('start'), peripheral, by }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop'), fruit }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('mode'), to: mode, summary: pick('done', ''), by }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delegate'), to: peripheral, reason: pick('on', ''), by }) },
  { weight: 6, arbitrary: step.map((call) => ({ kind: 'step', ...call })) },
);

/** A request as it is made from a peripheral. Absent fields are left out. */
function requestFrom(
  here: string | null,
  { way, ...rest }: { readonly kind: string; readonly way?: Way },
): AuditRequest {
  const edges = edgesFromPeripheral(SPECS, here ?? 'explore');
  const edge = way && 'edge' in way ? edges[way.edge % edges.length] : way;
  const { to, exit } = edge ?? {};
  const hop = way === undefined ? {} : { to, ...(way.namesExit && { exit }) };
  return JSON.parse(JSON.stringify({ approves: false, ...rest, ...hop }));
}

it('gate and audit give the same first answer to each request about visits and modes', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 30, maxLength: 30 }), async (requests) => {
      const { session, store, specs, config } = await world({ approver: null });
      await session.start('explore');
      const state = initialAuditState({ specs, config });
      let next = 0;
      for (const each of requests) {
        for await (const { entry } of store.entries(session.id, { from: next })) {
          applyToAuditState(state, entry, toBody(entry.body), Date.parse(entry.at));
          next = entry.seq + 1;
        }
        const asked = requestFrom(session.state.peripheral, each);
        const audit = findFirstRuleProblem(state, asked)?.code ?? 'allow';
        const answer = await sendRequest(session, asked);
        const gate = answer.ok ? 'allow' : answer.denial.code;
        expect({ asked, audit }).toEqual({ asked, audit: gate });
        if (asked.kind === 'hop') seen.add(gate);
      }
      await session.detach();
    }),
    { numRuns: depth(8, 200) },
  );
  expect([...seen]).toEqual(
    expect.arrayContaining(['allow', 'no-peripheral', 'hop-not-allowed', 'exit-not-met', 'invalid-fruit']),
  );
});
