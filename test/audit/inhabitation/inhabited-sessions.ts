import { agentSession } from '../../../src/adapters/core/local-agent-session.ts';
import { type RecordedSession, recordTranscript } from '../../../src/adapters/core/transcript/record-transcript.ts';
import { judgeInhabitation } from '../../../src/audit/inhabitation/judge-inhabitation.ts';
import { verifyConstraints } from '../../../src/audit/verify/verify-constraints.ts';
import { EMPTY_TRANSCRIPT, type Transcript, type TranscriptItem } from '../../../src/evidence/transcript.ts';
import type { TranscriptSink } from '../../../src/ports/transcript-sink.ts';
import type { Session } from '../../../src/session/session.ts';
import { type Stage, stage } from '../../session/sessions.ts';

export class Items implements TranscriptSink {
  readonly items: TranscriptItem[] = [];
  add(event: Parameters<TranscriptSink['add']>[0]): void {
    const at = new Date(Date.UTC(2026, 0, 1) + this.items.length).toISOString();
    this.items.push({ n: this.items.length, at, ...event } as TranscriptItem);
  }
  get transcript(): Transcript {
    return { items: this.items, problems: [] };
  }
}

/** The judgements: `P-1 holds`, … */
export async function judge(session: Session, transcript: Transcript = EMPTY_TRANSCRIPT) {
  const findings = judgeInhabitation(transcript, session.specs, await session.evidence());
  return {
    findings,
    verdicts: Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict])),
    reasons: findings.flatMap(({ id, findings }) => findings.map(({ reason }) => `${id}: ${reason}`)),
  };
}

export const roundTrip = async (session: Session) =>
  verifyConstraints({ specs: session.specs, config: session.config }, await session.evidence());

/** An agent that reads where it is, speaks of it, acts by calls, and hops out. */
export async function inhabit(options: { readonly withEvidence?: boolean } = {}) {
  const ids: string[] = [];
  const made: Stage = await stage({ onEntry: ({ id }) => ids.push(id) });
  const items = new Items();
  const agent = recordTranscript(
    agentSession(made.session),
    items,
    options.withEvidence === false ? {} : { evidence: () => ids.splice(0) },
  );
  await workInSession(agent);
  return { ...made, agent, items };
}

async function workInSession(agent: RecordedSession): Promise<void> {
  await agent.prompt();
  await agent.tools();
  agent.heard('user', 'The sum of the cart is wrong.');
  agent.said('I am outside of any peripheral; I can look in explore once I may diagnose.');
  await agent.call({ name: 'mode', input: { to: 'diagnose', reason: 'I have to look at the cart' } });
  await agent.call({ name: 'hop', input: { to: 'explore', reason: 'I want to find the cart in explore' } });
  await agent.tools();
  agent.said('I am in explore now: I can read and grep, and leave by found-target.');
  await agent.call({ name: 'read', input: { path: 'src/a.ts' } });
  await agent.call({ name: 'edit', input: { path: 'src/a.ts', old: 'a', new: 'b' } });
  agent.said('I cannot edit from explore, so I hop to reflect.');
  await agent.call({ name: 'status', input: {} });
  await agent.call({
    name: 'hop',
    input: { to: 'reflect', exit: 'hop-reflect', reason: 'I have seen what I came for' },
  });
}

/** A program that drives a session from outside and keeps its rules. */
export async function drive() {
  const made = await stage();
  const { session } = made;
  await session.setMode({ to: 'diagnose' });
  await session.start('explore');
  await session.step({ tool: 'read', args: { path: 'src/a.ts' } });
  await session.stop('done');
  return made;
}
