import { hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientConversation, ConversationRecord } from '../adapters/core/hook-context.ts';
import type { Env } from '../base/user-folders.ts';
import { canonicalJson } from '../evidence/canonical.ts';
import { ensureStateDir, stateDir } from '../project/state-dir.ts';
import type { Json } from '../spec/types.ts';
import { ensurePrivateDir } from './daemon-folder.ts';
import type { ProcessIdentity } from './hook/client-process.ts';
import { readPrivateJson, takePrivateJson, writeNewPrivateJson, writePrivateJson } from './private-json-file.ts';

export interface StoredConversation extends ConversationRecord {
  /** The client program's process; null if the system does not report it. */
  readonly client: ProcessIdentity | null;
}

/** Facts about a session that only hooks need, so that its evidence does not contain them. */
export interface SessionOwner {
  readonly sessionId: string;
  readonly agent: string;
  /** The session whose envelope limits this one; null if none does. */
  readonly parent: string | null;
  /** `own` if only the parent's mode limits this session; otherwise the parent's whole envelope does. */
  readonly within?: 'parent' | 'own';
  /** Destinations and modes that the operator approved in advance, or `all`. */
  readonly approve: readonly string[];
  /** The client program that uses the session; null if it is not known. */
  readonly client: ProcessIdentity | null;
  /** The process `hopgate claude` or `hopgate codex` that uses the session, or used it last. */
  readonly program?: ProcessIdentity | null;
}

/** Maximum time between the hook of a call and the call itself, in milliseconds. */
const EXPECTED_MS = 60_000;
const MAX_EVENTS = 50;

const nameHash = (...parts: readonly (string | null)[]): string => hash('sha256', JSON.stringify(parts)).slice(0, 24);

const keyOf = ({ client, id, agentId }: ClientConversation): string => nameHash(client, id, agentId);

const FOLDER = 'conversations';

/** The conversation records of one root, in its state folder, shared by all processes of this user. */
export class ConversationFiles {
  readonly #folder: string;
  /** The lock file. A process that creates or changes a record must hold it. */
  readonly lock: string;

  static existing(root: string, env: Env): ConversationFiles | null {
    const folder = join(stateDir(root, env), FOLDER);
    return existsSync(folder) ? new ConversationFiles(root, env, folder) : null;
  }

  /** @param folder an existing folder, which may be read-only; by default the folder is created */
  constructor(root: string, env: Env, folder = ensurePrivateDir(join(ensureStateDir(root, env), FOLDER))) {
    this.#folder = folder;
    this.lock = join(this.#folder, 'lock');
  }

  read(conversation: ClientConversation): StoredConversation | null {
    return readPrivateJson(this.#recordFile(keyOf(conversation)));
  }

  write(record: StoredConversation): void {
    writePrivateJson(this.#recordFile(keyOf(record.conversation)), record);
  }

  /** All records, the most recently used first. */
  all(): readonly StoredConversation[] {
    const last = ({ events }: StoredConversation): number => Date.parse(events.at(-1)?.at ?? '') || 0;
    return this.#readAll<StoredConversation>('conversation-').sort((a, b) => last(b) - last(a));
  }

  owner(sessionId: string): SessionOwner | null {
    return readPrivateJson(join(this.#folder, `session-${nameHash(sessionId)}.json`));
  }

  /** True if the operator approved moves to this destination, or calls of this tool, in advance. */
  isApproved(sessionId: string, to: string): boolean {
    const { approve = [] } = this.owner(sessionId) ?? {};
    return approve.includes('all') || approve.includes(to);
  }

  setOwner(owner: SessionOwner): void {
    writePrivateJson(join(this.#folder, `session-${nameHash(owner.sessionId)}.json`), owner);
  }

  owners(): readonly SessionOwner[] {
    return this.#readAll('session-');
  }

  storeForCall({ conversation }: ConversationRecord, key: string, value: Json): void {
    writeNewPrivateJson(this.#ticketFile(conversation, key), { value });
  }

  takeForCall({ conversation }: ConversationRecord, key: string): Json {
    return takePrivateJson<{ value: Json }>(this.#ticketFile(conversation, key))?.value ?? null;
  }

  /** Records that the next call equal to this one, on the session's connection, belongs to another session. */
  expectCall(sessionId: string, call: Json, forSession: string): void {
    writePrivateJson(this.#expectedFile(sessionId, call), { session: forSession, at: Date.now() });
  }

  /** Returns and removes the session that {@link expectCall} recorded for a call; null if there is none. */
  takeExpected(sessionId: string, call: Json): string | null {
    const expected = takePrivateJson<{ session: string; at: number }>(this.#expectedFile(sessionId, call));
    return expected && Date.now() - expected.at < EXPECTED_MS ? expected.session : null;
  }

  #recordFile(key: string): string {
    return join(this.#folder, `conversation-${key}.json`);
  }

  #ticketFile(conversation: ClientConversation, key: string): string {
    return join(ensurePrivateDir(join(this.#folder, 'tickets')), `${keyOf(conversation)}-${nameHash(key)}.json`);
  }

  #expectedFile(sessionId: string, call: Json): string {
    return join(
      ensurePrivateDir(join(this.#folder, 'tickets')),
      `${nameHash(sessionId)}-${nameHash(canonicalJson(call))}.json`,
    );
  }

  #readAll<T>(start: string): T[] {
    const names = readdirSync(this.#folder).filter((name) => name.startsWith(start) && name.endsWith('.json'));
    return names.flatMap((name) => readPrivateJson<T>(join(this.#folder, name)) ?? []);
  }
}

export function addHookEvent(
  record: StoredConversation,
  event: ConversationRecord['events'][number],
  notes?: ConversationRecord['notes'],
): StoredConversation {
  return { ...record, events: [...record.events, event].slice(-MAX_EVENTS), notes: notes ?? record.notes };
}
