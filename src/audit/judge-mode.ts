import type { ModeBody } from '../evidence/bodies.ts';
import { APPROVAL_VIEW } from '../spec/policy/closed-lists.ts';
import { judgeApprovalUse } from './judge-approval.ts';
import type { Ledger } from './ledger.ts';
import type { Report } from './report.ts';
import { factsOf, judgeFacts, type Moment } from './session-facts.ts';

/** Judges a change of mode: along a transition of the gate, or the operator's reset, or the clock's. */
export function judgeMode(ledger: Ledger, at: number, body: ModeBody, report: Report): void {
  const { gate } = ledger.pinned.specs;
  const { from, to, how, by } = body;
  const breach = (constraint: string, message: string) => report.breach('mode', constraint, message);
  if (!gate) {
    breach('no mode gate', `the mode was changed to ${to}`);
    return;
  }
  if (ledger.mode !== null && from !== ledger.mode)
    breach(`the mode is ${ledger.mode}`, `the change starts from ${from}`);
  if (from === to) breach('a change', `${from} to ${to}`);
  const transition =
    how === 'transition' ? gate.transitions.find((one) => one.from === from && one.to === to) : undefined;
  if (how === 'transition') {
    if (!transition)
      breach(`transitions: ${gate.transitions.map((one) => `${one.from} → ${one.to}`).join(', ')}`, `${from} → ${to}`);
    if (transition?.summary && (body.summary ?? '').trim() === '')
      breach(`${from} → ${to}: a summary`, 'there is none');
    if (by === 'clock') breach('the clock only times out', `it changed the mode to ${to}`);
  } else {
    if (to !== gate.reset) breach(`reset: ${gate.reset}`, `a ${how} led to ${to}`);
    const whose = how === 'reset' ? 'operator' : 'clock';
    if (by !== whose) breach(`a ${how} is the ${whose}'s`, `it was made by the ${by}`);
    if (how === 'timeout' && (gate.timeoutMinutes === null || at - ledger.activeAt < gate.timeoutMinutes * 60_000))
      breach(`timeout-minutes: ${gate.timeoutMinutes ?? 'none'}`, 'the mode timed out before');
  }
  const needed = transition?.approval === 'operator';
  const view = {
    ...(body.exitCriteria === null ? {} : { [APPROVAL_VIEW.exitCriteria]: body.exitCriteria }),
    ...(body.summary === null ? {} : { [APPROVAL_VIEW.summary]: body.summary }),
  };
  const wanted = { action: { kind: 'mode', from, to }, reason: body.reason ?? '', view };
  judgeApprovalUse(ledger, at, body.approval, needed, wanted, report);
  const moment: Moment = {
    ledger,
    by,
    visit: ledger.visit,
    fruit: {},
    backpack: ledger.backpack,
    successes: ledger.successes,
  };
  const summary = how === 'transition' ? body.summary : null;
  judgeFacts(body.facts, factsOf(moment, { approved: needed, summary }), report);
}
