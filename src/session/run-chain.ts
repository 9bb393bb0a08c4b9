import { assertArgument, hasMethods } from '../base/assert-argument.ts';
import { type AnyFields, type Fields, isObject } from '../base/json.ts';
import type { Entry } from '../evidence/entry.ts';
import type { Denial } from '../gate/denial.ts';
import type { Session } from './session.ts';

/** One link of a chain: a visit, and the exit to the next one. */
export interface ChainLink {
  readonly peripheral: string;
  readonly actions: readonly { readonly tool: string; readonly args?: unknown }[];
  readonly exit?: string;
  readonly reason: string;
  readonly fruit?: AnyFields;
}

/** The result of a chain: its evidence, fruits and final context, and the denial that stopped it. */
export type ChainResult = {
  readonly evidence: readonly Entry[];
  readonly fruits: readonly { readonly peripheral: string; readonly fruit: Fields }[];
  readonly finalContext: Fields;
} & (
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly denial: Denial;
      /** The link that was refused, and the action in it; null for its start or its exit. */
      readonly at: { readonly link: number; readonly action: number | null };
    }
);

/**
 * Runs a sequence of visits: starts the first peripheral, takes its actions, hops to the next by the link's exit, and
 * so on, and stops the last visit. The first refusal ends the chain; the result and the store keep the steps before it.
 * @throws TypeError if a link has no such form
 * @example
 * const read = { peripheral: 'explore', actions: [{ tool: 'read', args: ['README.md'] }], reason: 'read it' };
 * const { ok, fruits } = await runChain(session, [read]);
 */
export async function runChain(session: Session, links: readonly ChainLink[]): Promise<ChainResult> {
  assertArgument(
    hasMethods(session, 'step', 'hop'),
    'runChain: session',
    'a session, as openSession returns it',
    session,
  );
  const areLinks = Array.isArray(links) && links.every((link) => isObject(link) && Array.isArray(link.actions));
  assertArgument(areLinks, 'runChain: links', 'a list of { peripheral, actions, exit?, reason }', links);
  const evidence: Entry[] = [];
  const fruits: { peripheral: string; fruit: Fields }[] = [];
  const refused = (denial: Denial, link: number, action: number | null): ChainResult => ({
    ok: false,
    denial,
    at: { link, action },
    evidence,
    fruits,
    finalContext: session.state.backpack,
  });
  for (const [index, link] of links.entries()) {
    if (index === 0) {
      const started = await session.start(link.peripheral);
      evidence.push(...started.evidence);
      if (!started.ok) return refused(started.denial, index, null);
    }
    for (const [number, action] of link.actions.entries()) {
      const stepped = await session.step(action);
      evidence.push(...stepped.evidence);
      if (!stepped.ok) return refused(stepped.denial, index, number);
    }
    const next = links[index + 1];
    const { reason, exit, fruit } = link;
    const leaving = next
      ? await session.hop({ to: next.peripheral, reason, exit, fruit })
      : await session.stop(reason, { fruit });
    evidence.push(...leaving.evidence);
    if (!leaving.ok) return refused(leaving.denial, index, null);
    fruits.push({ peripheral: link.peripheral, fruit: leaving.fruit });
  }
  return { ok: true, evidence, fruits, finalContext: session.state.backpack };
}
