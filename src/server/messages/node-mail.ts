import { hash } from 'node:crypto';
import { checkMessage, describeWaitCycle, sendBell } from '../../messages/send-message.ts';
import { findWaitCycle } from '../../messages/wait-cycle.ts';
import type { BlockedSender, MailPosition, Message, MessageDraft, MessageStore } from '../../ports/message-store.ts';
import type { EvidenceOfAllRepositories, RepositoryEvidence } from '../all-evidence.ts';
import {
  MAX_MAIL_WAIT_MS,
  MAX_MESSAGES_PER_MAIL,
  MAX_NAMES_IN_CYCLE,
  type NodeMailBody,
  type UndeliveredMessage,
} from './mail-schema.ts';
import {
  describeWaitCycleOfNode,
  hashOfWaits,
  readNameFromNode,
  spellNameForNode,
  spellWaitCycleForNode,
  waitRowsFromMail,
  waitsForNode,
} from './node-waits.ts';

/** The mail that a node already has: a position in each repository, and the hash of the waits that it got. */
export interface MailPositions {
  readonly positions: { readonly [repository: string]: MailPosition };
  readonly waits: string;
}

const START: MailPosition = { message: 0, receipt: 0 };
export const NO_MAIL_POSITIONS: MailPositions = { positions: {}, waits: '' };

type MailMessage = NodeMailBody['messages'][number];
interface NodeInbox {
  readonly messages: MessageStore;
  readonly repository: RepositoryEvidence;
}

/**
 * The messages between this node and others, from and to the inboxes of all repositories. The ids of another node's
 * messages end with its name, so that mail that arrives twice is stored once, and no node can use the id of another.
 */
export class NodeMailExchange {
  readonly #allEvidence: EvidenceOfAllRepositories;
  /** The nodes that were added to a store, each as `<key of the repository> <node>`. */
  readonly #knownNodes = new Set<string>();

  constructor(allEvidence: EvidenceOfAllRepositories) {
    this.#allEvidence = allEvidence;
  }

  /** The mail for a node after these positions; null if there is none. */
  async collect(
    node: string,
    after: MailPositions,
  ): Promise<{ readonly mail: NodeMailBody; readonly after: MailPositions } | null> {
    const boxes = await this.#boxes(node);
    const outgoing: Message[] = [];
    const mail: NodeMailBody = { messages: [], receipts: [], refusals: [] };
    const positions = { ...after.positions };
    for (const { messages, repository } of boxes) {
      const room = MAX_MESSAGES_PER_MAIL - Math.max(outgoing.length, mail.receipts.length);
      if (room === 0) break;
      const found = await messages.mailFor(node, positions[repository.key] ?? START, room);
      outgoing.push(...found.messages);
      for (const { message, state } of found.receipts)
        if (state === 'delivered' || state === 'read')
          mail.receipts.push({ message: spellNameForNode(message, node), state });
      positions[repository.key] = found.positions;
    }
    const now = Date.now();
    // The waits are read after the messages, because a whistle's wait is stored before its message.
    const rows = await waitsOf(boxes, now);
    mail.messages.push(...outgoing.map((message) => mailMessageOf(message, node, rows, now)));
    const waits = waitsForNode(rows, node, now);
    const known = hashOfWaits(waits, now);
    const isNews = mail.messages.length + mail.receipts.length > 0;
    if (!isNews && known === after.waits) return null;
    return { mail: known === after.waits ? mail : { ...mail, ...waits }, after: { positions, waits: known } };
  }

  /** Stores the mail of a node. Returns the messages that cannot be delivered; they are not stored. */
  async accept(
    node: string,
    { messages, receipts, refusals, waits, behind = [] }: NodeMailBody,
  ): Promise<readonly UndeliveredMessage[]> {
    const boxes = await this.#boxes(node);
    const refused: UndeliveredMessage[] = [];
    // The waits are stored first, because they decide whether a whistle closes a cycle.
    if (waits) await putWaits(boxes, node, { waits, behind });
    for (const message of messages) {
      const id = readNameFromNode(message.id, node);
      if (await findDelivered(boxes, id)) continue;
      const problem = await this.#deliver(boxes, node, message);
      if (problem !== null) refused.push({ message: spellNameForNode(id, node), ...problem });
    }
    for (const { message: id, state } of receipts) {
      const sent = await sentTo(boxes, node, id);
      await sent?.messages.mark(id, state);
    }
    for (const { message: id, text, cycle } of refusals) {
      const sent = await sentTo(boxes, node, id);
      const why = cycle ? describeWaitCycle(describeWaitCycleOfNode(cycle, node)) : text;
      if (sent?.message.state === 'sent')
        await sent.messages.send(refusalOf(sent.message, node, `Not delivered: ${why}.`));
    }
    if (waits || messages.length > 0) await endCycles(boxes, node);
    return refused;
  }

  async #boxes(node: string): Promise<readonly NodeInbox[]> {
    const boxes: NodeInbox[] = [];
    for (const repository of this.#allEvidence.repositories()) {
      const { messages } = repository.store;
      if (!messages) continue;
      const known = `${repository.key} ${node}`;
      if (!this.#knownNodes.has(known)) await messages.addNode(node);
      this.#knownNodes.add(known);
      boxes.push({ messages, repository });
    }
    return boxes;
  }

  /**
   * Puts a message into the inbox of its recipient. Returns the reason if the message cannot be delivered; null if it
   * was delivered.
   */
  async #deliver(
    boxes: readonly NodeInbox[],
    node: string,
    message: MailMessage,
  ): Promise<Omit<UndeliveredMessage, 'message'> | null> {
    const { kind, act, to, text, ref, leftMs } = message;
    const id = readNameFromNode(message.id, node);
    const from = readNameFromNode(message.from, node);
    const author = `${message.author}@${node}`;
    const post = {
      kind,
      act,
      id,
      from,
      author,
      to,
      text,
      ...(ref === null ? {} : { ref: readNameFromNode(ref, node) }),
    };
    const open: { readonly messages: MessageStore; readonly draft: MessageDraft }[] = [];
    let problem = 'its node has no session yet';
    for (const { messages, repository } of boxes) {
      const checked = await checkMessage(repository.store, messages, post);
      if (checked.ok) open.push({ messages, draft: checked.draft });
      else problem = checked.message;
    }
    const newest = await this.#newestSession(open);
    if (!newest) return { text: problem };
    const { messages, draft } = newest;
    if (kind === 'whistle' && leftMs !== null) {
      const cycle = await messages.wait({ id, waiter: from, target: draft.to, until: Date.now() + leftMs });
      if (cycle) {
        const shown = spellWaitCycleForNode(cycle, node).slice(0, MAX_NAMES_IN_CYCLE);
        return { text: describeWaitCycle(shown.map((name) => name || 'another machine').join(' → ')), cycle: shown };
      }
    }
    await sendBell(messages, draft);
    return null;
  }

  /** The session that was opened last among several matching recipients. */
  async #newestSession<Open extends { readonly draft: MessageDraft }>(
    open: readonly Open[],
  ): Promise<Open | undefined> {
    if (open.length < 2) return open[0];
    for (const { summary } of await this.#allEvidence.sessions()) {
      const one = open.find(({ draft }) => draft.to === `session:${summary.sessionId}`);
      if (one) return one;
    }
    return open[0];
  }
}

async function findDelivered(
  boxes: readonly NodeInbox[],
  id: string,
): Promise<{ readonly messages: MessageStore; readonly message: Message } | null> {
  for (const { messages } of boxes) {
    const message = await messages.find(id);
    if (message) return { messages, message };
  }
  return null;
}

/**
 * Finds a message that was sent to `node`. null for any other message, so that no node reports on the messages of other
 * nodes.
 */
async function sentTo(boxes: readonly NodeInbox[], node: string, id: string): ReturnType<typeof findDelivered> {
  const sent = await findDelivered(boxes, id);
  return sent?.message.to.endsWith(`@${node}`) ? sent : null;
}

function mailMessageOf(message: Message, node: string, rows: readonly BlockedSender[], now: number): MailMessage {
  const { id, kind, act, from, author, to, text, ref } = message;
  const until = rows.find((wait) => wait.id === id)?.until;
  return {
    id: spellNameForNode(id, node),
    kind,
    act,
    from: spellNameForNode(from, node),
    author,
    to: spellNameForNode(to, node),
    text,
    ref: ref === null ? null : spellNameForNode(ref, node),
    leftMs: until === undefined ? null : Math.min(until - now, MAX_MAIL_WAIT_MS),
  };
}

async function waitsOf(boxes: readonly NodeInbox[], now: number): Promise<readonly BlockedSender[]> {
  const all = (await Promise.all(boxes.map(({ messages }) => messages.waits(now)))).flat();
  return [...new Map(all.map((wait) => [wait.id, wait])).values()];
}

/** Replaces the stored waits of a node. A wait for an agent becomes a wait for the session that got the whistle. */
async function putWaits(
  boxes: readonly NodeInbox[],
  node: string,
  wire: Required<Pick<NodeMailBody, 'waits' | 'behind'>>,
): Promise<void> {
  const now = Date.now();
  const targets = new Map<string, string>();
  for (const { id } of wire.waits) {
    const whistle = (await findDelivered(boxes, readNameFromNode(id, node)))?.message;
    if (whistle && whistle.state !== 'answered') targets.set(whistle.id, whistle.to);
  }
  const rows = waitRowsFromMail(wire, node, await waitsOf(boxes, now), targets, now);
  for (const { messages } of boxes) await messages.putWaits(node, rows);
}

/** Ends this machine's waits in a cycle. Only cycles that two machines closed at the same moment reach this point. */
async function endCycles(boxes: readonly NodeInbox[], node: string): Promise<void> {
  const now = Date.now();
  let rows = await waitsOf(boxes, now);
  for (const wait of rows) {
    if (wait.id.includes('@') || !wait.target.includes('@')) continue;
    const others = rows.filter(({ id }) => id !== wait.id);
    const cycle = findWaitCycle(others, wait, now);
    const sent = cycle && (await findDelivered(boxes, wait.id));
    if (!sent) continue;
    rows = others;
    await sent.messages.send(refusalOf(sent.message, node, `Ended: ${describeWaitCycle(cycle.join(' → '))}.`));
    await sent.messages.endWait(wait.id);
  }
}

/** A note to the sender of a message about its delivery. It ends the wait of a whistle. */
const refusalOf = ({ id, kind, from }: Message, node: string, text: string): MessageDraft => ({
  id: `u-${hash('sha256', id).slice(0, 32)}`,
  kind: 'bell',
  act: kind === 'whistle' ? 'answer' : 'assert',
  from: `node:${node}`,
  author: node,
  to: from,
  text,
  ref: id,
});
