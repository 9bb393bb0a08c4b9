import type { ClientConversation, ConversationRecord } from '../../adapters/core/hook-context.ts';
import { sessionOpenedItem } from '../../adapters/core/transcript/transcript-items.ts';
import type { Env } from '../../base/user-folders.ts';
import {
  addHookEvent,
  type ConversationFiles,
  type SessionOwner,
  type StoredConversation,
} from '../conversation-files.ts';
import { withFileLock } from '../file-lock.ts';
import {
  findClientProcess,
  isProcessRunning,
  isSameProcess,
  type ProcessIdentity,
  processAncestry,
} from '../hook/client-process.ts';
import type { FindTranscript } from '../session-transcripts.ts';
import type { OwnedSessions } from './owned-sessions.ts';
import type { CallingProcess } from './session-host-options.ts';

/** The conversations of client programs: the session of each, and its record. */
export class Conversations {
  readonly #env: Env;
  readonly #owned: OwnedSessions;
  readonly #transcriptOf: FindTranscript;

  constructor(env: Env, owned: OwnedSessions, transcriptOf: FindTranscript) {
    this.#env = env;
    this.#owned = owned;
    this.#transcriptOf = transcriptOf;
  }

  stored(conversation: ClientConversation): StoredConversation | null {
    return this.#owned.files(conversation.root).read(conversation);
  }

  /** The record of a conversation. The first call opens its session, or joins the session of its client program. */
  async record(conversation: ClientConversation, caller: CallingProcess): Promise<ConversationRecord> {
    const files = this.#owned.files(conversation.root);
    const known = files.read(conversation);
    if (known && !namesOtherSession(known, caller.env)) return this.#resumed(files, known, caller);
    // The parent's record comes first, because it is created under the same lock.
    const { agentType: _, ...main } = { ...conversation, agentId: null };
    const parent = conversation.agentId === null ? null : await this.record(main, caller);
    return withFileLock(files.lock, this.#owned.deadline(), async () => {
      const meanwhile = files.read(conversation);
      if (meanwhile && !namesOtherSession(meanwhile, caller.env)) return meanwhile;
      const ancestors = caller.pid === null ? [] : processAncestry(caller.pid);
      const client = findClientProcess(ancestors);
      const owner = parent
        ? await this.#owned.openSubAgent(files, conversation, parent)
        : await this.#mainOwner(files, conversation, client, caller.env);
      const record: StoredConversation = {
        conversation,
        sessionId: owner.sessionId,
        parent: owner.parent,
        events: meanwhile?.events ?? [],
        notes: meanwhile?.notes ?? (await this.#firstNotes(conversation, caller)),
        client,
      };
      files.write(record);
      if (meanwhile?.sessionId !== record.sessionId)
        this.#transcriptOf(conversation.root, record.sessionId).add(sessionOpenedItem(record.sessionId, 'hooks'));
      return record;
    });
  }

  /** Updates the record of a conversation that the user continues in another process of the client program. */
  async #resumed(
    files: ConversationFiles,
    known: StoredConversation,
    { pid }: CallingProcess,
  ): Promise<ConversationRecord> {
    if (pid === null || known.parent !== null || (known.client && isProcessRunning(known.client))) return known;
    const client = findClientProcess(processAncestry(pid));
    if (client === null) return known;
    return withFileLock(files.lock, this.#owned.deadline(), async () => {
      const record = { ...(files.read(known.conversation) ?? known), client };
      files.write(record);
      await this.#owned.recordClient(files, record.conversation.root, record.sessionId, client);
      return record;
    });
  }

  /** Adds an event, and notes for the user, to the record of a conversation. */
  async recordEvent(
    record: ConversationRecord,
    event: ConversationRecord['events'][number],
    notes?: ConversationRecord['notes'],
  ): Promise<ConversationRecord> {
    const files = this.#owned.files(record.conversation.root);
    return withFileLock(files.lock, this.#owned.deadline(), async () => {
      const now = files.read(record.conversation);
      if (!now)
        throw new Error(`somebody removed the record of conversation ${record.conversation.id} from the state folder`);
      const next = addHookEvent(now, event, notes);
      files.write(next);
      return next;
    });
  }

  /**
   * The session for an MCP server: the session that the environment names, else the session of its client's hooks, else
   * a new session for the server and the hooks.
   */
  async attach(root: string, agent: string, caller: CallingProcess): Promise<string> {
    const files = this.#owned.files(root);
    return withFileLock(files.lock, this.#owned.deadline(), async () => {
      const ancestors = caller.pid === null ? [] : processAncestry(caller.pid);
      const named = caller.env['HOPGATE_SESSION'];
      if (named) return (await this.#owned.recordClient(files, root, named, findClientProcess(ancestors))).sessionId;
      const found = await this.#sessionOfClient(files, root, (client) =>
        ancestors.slice(1).some((process) => isSameProcess(process, client)),
      );
      return found ?? (await this.#owned.openMain(files, root, agent, findClientProcess(ancestors), caller)).sessionId;
    });
  }

  /** The owner of the session for a new conversation's main agent. */
  async #mainOwner(
    files: ConversationFiles,
    { root, client: name }: ClientConversation,
    client: ProcessIdentity | null,
    env: Env,
  ) {
    const named = env['HOPGATE_SESSION'];
    if (named) return this.#owned.recordClient(files, root, named, client);
    const found = client && (await this.#sessionOfClient(files, root, (other) => isSameProcess(other, client)));
    return found ? this.#owned.owner(files, root, found) : this.#owned.openMain(files, root, name, client, { env });
  }

  /** The session that the hooks or the MCP server of a client program already use; each program has one. */
  async #sessionOfClient(
    files: ConversationFiles,
    root: string,
    isClient: (client: ProcessIdentity | null) => boolean,
  ): Promise<string | null> {
    const isOfClient = ({ parent, client }: StoredConversation | SessionOwner) => parent === null && isClient(client);
    const known = new Set(
      [...files.all().filter(isOfClient), ...files.owners().filter(isOfClient)].map(({ sessionId }) => sessionId),
    );
    // Does not wait for the session: its writer may be waiting for the lock that this process holds.
    for (const id of known) if (!(await this.#owned.join(root, id, async ({ state }) => state.closed, 0))) return id;
    return null;
  }

  /** Messages for the user at the start of a conversation; empty if the calling program has shown them. */
  async #firstNotes(
    { root, agentId }: ClientConversation,
    { env }: CallingProcess,
  ): Promise<ConversationRecord['notes']> {
    if (agentId !== null || env['HOPGATE_SESSION']) return {};
    const unshown = (await import('../../project/trust-record.ts')).untrustedConfigWarning(root, this.#env);
    return unshown === null ? {} : { unshown };
  }
}

/** True if the environment names a session other than the main agent's current one. */
const namesOtherSession = ({ conversation, sessionId }: ConversationRecord, env: Env): boolean =>
  conversation.agentId === null && !!env['HOPGATE_SESSION'] && env['HOPGATE_SESSION'] !== sessionId;
