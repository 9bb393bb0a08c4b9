import { plural } from '../../base/text.ts';
import type { Body } from '../../evidence/bodies.ts';
import { decide } from '../../gate/decide.ts';
import type { GateContext } from '../../gate/request.ts';
import { isObserveOnly } from '../../gate/scope/observe-only.ts';
import type { Mode } from '../../spec/types.ts';
import { recordNewMessages } from '../session-messages.ts';
import type { SessionWriter } from '../session-writer.ts';
import { isSessionClosed } from '../state/session-state.ts';
import { modeAfterIdleTime } from '../state/view-of-state.ts';
import type { SessionParts } from './session-parts.ts';

/** A session whose evidence may lack events that no call caused. */
interface UnsettledSession {
  readonly parts: SessionParts;
  readonly writer: SessionWriter;
  deferredSteps: readonly Body[];
  context(): GateContext;
  endBackground(): Promise<void>;
  endBackgroundForMode(mode: Mode): Promise<void>;
}

/**
 * Records the events that no call caused, in this order: an interrupted step, revoked grants, a passed deadline, the
 * mode's timeout, received messages.
 */
export async function recordMissedEvents(session: UnsettledSession): Promise<void> {
  if (isSessionClosed(session.writer.state)) return;
  // An interruption, the end of a grant and the end of the visit's time do not count as activity of the session.
  const { pending, grants, lastAt } = session.writer.state.facts;
  if (pending) await recordInterruption(session, pending.tool);
  session.deferredSteps = [];
  if (grants.length > 0) await recordRevokedGrants(session);
  await recordExpiry(session);
  await recordModeTimeout(session, lastAt);
  if (session.parts.store.messages) await recordNewMessages(session);
}

async function recordInterruption({ writer, deferredSteps }: UnsettledSession, tool: string): Promise<void> {
  const reason = 'no outcome was recorded after the intent; the outcome is unknown and the step is not run again';
  await writer.append([{ event: 'interrupted', tool, reason }, ...deferredSteps]);
}

async function recordRevokedGrants({ parts, writer }: UnsettledSession): Promise<void> {
  const ends = writer.state.facts.grants.flatMap(({ id, ended }): Body[] => {
    const by = ended === null ? (parts.revokedBy?.(id) ?? null) : null;
    return by === null ? [] : [{ event: 'grant-end', grant: id, by }];
  });
  if (ends.length > 0) await writer.append(ends);
}

async function recordExpiry(session: UnsettledSession): Promise<void> {
  const { parts, writer } = session;
  const { visit } = writer.state.facts;
  if (isObserveOnly(parts) || !visit?.deadline || parts.clock.now() < visit.deadline) return;
  if (writer.state.lifecycle !== 'active') return;
  await session.endBackground();
  await writer.append([{ event: 'expired', peripheral: visit.peripheral, deadline: visit.deadline }]);
}

async function recordModeTimeout(session: UnsettledSession, lastAt: number): Promise<void> {
  const { parts, writer } = session;
  const { modeGate } = parts.compiled.specs;
  const { mode } = writer.state;
  const to = modeAfterIdleTime(modeGate, mode, parts.clock.now() - lastAt);
  if (mode === null || to === null || to === mode) return;
  const decision = decide(session.context(), { kind: 'mode', to, by: 'clock' });
  await session.endBackgroundForMode(to);
  if (!decision.ok) throw new Error(`the clock could not reset the mode: ${decision.denial.message}`);
  await writer.append([
    {
      event: 'mode',
      from: mode,
      to,
      how: 'timeout',
      by: 'clock',
      summary: null,
      reason: `no entry for ${plural(modeGate?.timeoutMinutes ?? 0, 'minute')}`,
      exitCriteria: null,
      approval: null,
      facts: decision.plan.event.facts,
    },
  ]);
}
