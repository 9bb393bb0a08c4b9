import { compileSpecs } from '../compile/index.ts';
import { bodyOf } from '../evidence/bodies.ts';
import { StoreError } from '../ports/evidence-store.ts';
import type { SessionParts } from './core.ts';
import { getPin, type Pin, putPin } from './pin.ts';
import { Session } from './session.ts';
import { initialState } from './state.ts';
import { Writer } from './writer.ts';

type Parts = Omit<SessionParts, 'compiled' | 'config'>;

export interface NewSession extends Pin {
  readonly agent: string;
  /** Absolute real path of the repository. */
  readonly root: string;
  readonly unsafeNoSandbox: boolean;
  readonly version: string;
}

/** Opens a new session: pins the spec and config, writes the root of its tree. */
export async function createSession(
  parts: Parts,
  { specs, config, agent, root, unsafeNoSandbox, version }: NewSession,
): Promise<Session> {
  const pin = await putPin(parts.store, { specs, config });
  const compiled = compileSpecs(specs);
  const writer = new Writer(compiled, parts, initialState(compiled, parts.ids.next('session')));
  await writer.append([{ event: 'session-open', agent, root, pin, specHash: specs.hash, unsafeNoSandbox, version }]);
  return new Session({ ...parts, compiled, config }, writer);
}

/**
 * Opens a session that exists, under the spec and config that it was pinned to; its state is folded from its evidence. Opening only reads:
 * the first call takes the lease. Throws StoreError `session-not-found`.
 *
 * @param pin what the session is pinned to, where the caller has read it from the store already
 */
export async function resumeSession(parts: Parts, sessionId: string, pin?: Pin): Promise<Session> {
  const [first] = await firstEntries(parts, sessionId);
  const body = first && bodyOf(first.entry.body);
  if (body?.event !== 'session-open') throw new StoreError('session-not-found', `there is no session "${sessionId}"`);
  const { specs, config } = pin ?? (await getPin(parts.store, body.pin));
  const compiled = compileSpecs(specs);
  const { onEntry, ...quiet } = parts;
  const writer = new Writer(
    compiled,
    { ...quiet, onEntry: (entry) => live && onEntry?.(entry) },
    initialState(compiled, sessionId),
  );
  let live = false;
  await writer.catchUp();
  live = true;
  return new Session({ ...parts, compiled, config }, writer);
}

async function firstEntries({ store }: Parts, sessionId: string) {
  for await (const entry of store.entries(sessionId)) return [entry];
  return [];
}
