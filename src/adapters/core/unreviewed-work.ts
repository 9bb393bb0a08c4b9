import { fieldsOf } from '../../base/json.ts';
import type { WayLeg } from '../../gate/denial.ts';
import type { Session } from '../../session/session.ts';

/** Work of a session that nobody has reviewed. */
export interface UnreviewedWork {
  /** The peripheral that the session is in; null if it is outside. */
  readonly peripheral: string | null;
  /** The hop to a peripheral that reflects; null if none leads there from here. */
  readonly hop: WayLeg | null;
}

/**
 * The work that is worth a review: an action that succeeded since the last review (PAR). null if there is none, or if
 * the session is closed or in a peripheral that reflects.
 */
export async function unreviewedWork(session: Session): Promise<UnreviewedWork | null> {
  const { closed, peripheral } = session.state;
  if (closed || isReflective(session, peripheral) || !(await hasActed(session))) return null;
  const hops = session.available().hops.filter(({ to }) => isReflective(session, to));
  // Prefers the exit `hop-…`, which claims nothing but the move.
  return { peripheral, hop: hops.find(({ exit, to }) => exit === `hop-${to}`) ?? hops[0] ?? null };
}

/** True if a visit to the peripheral yields the PAR. */
const isReflective = ({ specs }: Session, peripheral: string | null): boolean =>
  peripheral !== null &&
  Object.values(specs.peripherals[peripheral]?.fruit ?? {}).some(
    (field) => field.kind === 'observed' && field.from === 'par',
  );

/** Only tools that act leave an outcome of their own. */
async function hasActed(session: Session): Promise<boolean> {
  const bodies = (await session.evidence()).map(({ body }) => fieldsOf(body));
  const isAction = (body: ReturnType<typeof fieldsOf>) =>
    body['event'] === 'outcome' && fieldsOf(body['outcome'])['status'] === 'ok';
  return bodies.findLastIndex(isAction) > bodies.findLastIndex(({ event }) => event === 'par');
}
