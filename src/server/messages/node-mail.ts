import { hash } from 'node:crypto';
import { checkPost, ring } from '../../messages/post.ts';
import type { MailPlace, Message, MessageDraft, MessageStore, Wait } from '../../ports/message-store.ts';
import type { RepositoryEvidence, World } from '../world.ts';
import { MOST_LETTERS, type NodeMailBody, type Undelivered } from './mail-schema.ts';

/** The part of the mail for a node that it has: a place in each repository, and the waits it knows. */
export interface MailPlaces {
  readonly places: { readonly [repository: string]: MailPlace };
  readonly waits: string;
}

const START: MailPlace = { message: 0, receipt: 0 };
export const NO_MAIL: MailPlaces = { places: {}, waits: '' };

/** A name of this node as the other node reads it. Inverse: {@link inward}. */
export function outward(name: string, node: string): string {
  const end = `@${node}`;
  if (name.endsWith(end)) return name.slice(0, -end.length);
  return name.includes('@') ? name : `${name}@`;
}

/** A name in mail of a node as this node stores it. */
export const inward = (name: string, node: string): string => (name.endsWith('@') ? `${name}${node}` : name);

type Letter = NodeMailBody['messages'][number];
interface Box {
  readonly messages: MessageStore;
  readonly repository: RepositoryEvidence;
}

/**
 * The messages between this node and others, from and to the inboxes of all repositories. The ids of another node's
 * messages end with its name, so that mail that arrives twice is stored once, and no node can use the id of another.
 */
export class NodeMail {
  readonly #world: World;
  /** The nodes that are known in a repository, as `<key> <node>`. */
  readonly #known = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** The mail for a node after these places; null if there is none. */
  async collect(
    node: string,
    after: MailPlaces,
  ): Promise<{ readonly mail: NodeMailBody; readonly after: MailPlaces } | null> {
    const boxes = await this.#boxes(node);
    const now = Date.now();
    const waits = (await Promise.all(boxes.map(({ messages }) => messages.waits(now)))).flat();
    const known = hash('sha256', JSON.stringify(waits.map(({ id }) => id).sort()));
    const mail: NodeMailBody = { messages: [], receipts: [], refusals: [] };
    const places = { ...after.places };
    for (const { messages, repository } of boxes) {
      const room = MOST_LETTERS - Math.max(mail.messages.length, mail.receipts.length);
      if (room === 0) break;
      const found = await messages.mailFor(node, places[repository.key] ?? START, room);
      mail.messages.push(...found.messages.map((message) => letterOf(message, node, waits, now)));
      for (const { message, state } of found.receipts)
        if (state === 'delivered' || state === 'read') mail.receipts.push({ message: outward(message, node), state });
      places[repository.key] = found.place;
    }
    const isNews = mail.messages.length + mail.receipts.length > 0;
    if (!isNews && known === after.waits) return null;
    if (known !== after.waits) mail.waits = waits.map((wait) => wireWait(wait, node, now));
    return { mail, after: { places, waits: known } };
  }

  /** Stores the mail of a node. Returns the messages that cannot be delivered; they are not stored. */
  async accept(node: string, { messages, receipts, refusals, waits }: NodeMailBody): Promise<readonly Undelivered[]> {
    const boxes = await this.#boxes(node);
    const refused: Undelivered[] = [];
    for (const letter of messages) {
      if (await found(boxes, inward(letter.id, node))) continue;
      const problem = await this.#deliver(boxes, node, letter);
      if (problem !== null) refused.push({ message: outward(inward(letter.id, node), node), text: problem });
    }
    for (const { message: id, state } of receipts) {
      const sent = await sentTo(boxes, node, id);
      await sent?.messages.mark(id, state);
    }
    for (const { message: id, text } of refusals) {
      const sent = await sentTo(boxes, node, id);
      if (sent?.message.state === 'sent') await sent.messages.send(refusalOf(sent.message, node, text));
    }
    if (waits) await putWaits(boxes, node, waits);
    return refused;
  }

  async #boxes(node: string): Promise<readonly Box[]> {
    const boxes: Box[] = [];
    for (const repository of this.#world.repositories()) {
      const { messages } = repository.store;
      if (!messages) continue;
      const known = `${repository.key} ${node}`;
      if (!this.#known.has(known)) await messages.addNode(node);
      this.#known.add(known);
      boxes.push({ messages, repository });
    }
    return boxes;
  }

  /** Puts a message into the inbox of its recipient; otherwise returns the reason. */
  async #deliver(boxes: readonly Box[], node: string, letter: Letter): Promise<string | null> {
    const { kind, act, to, text, ref, leftMs } = letter;
    const id = inward(letter.id, node);
    const from = inward(letter.from, node);
    const author = `${letter.author}@${node}`;
    const post = { kind, act, id, from, author, to, text, ...(ref === null ? {} : { ref: inward(ref, node) }) };
    const open: { readonly messages: MessageStore; readonly draft: MessageDraft }[] = [];
    let problem = 'no session was opened there yet';
    for (const { messages, repository } of boxes) {
      const checked = await checkPost(repository.store, messages, post);
      if (checked.ok) open.push({ messages, draft: checked.draft });
      else problem = checked.message;
    }
    const newest = await this.#newest(open);
    if (!newest) return problem;
    const { messages, draft } = newest;
    if (kind === 'whistle' && leftMs !== null) {
      const circle = await messages.wait({ id, waiter: from, target: draft.to, until: Date.now() + leftMs });
      if (circle) return `the whistle would wait for itself: ${circle.join(' → ')}`;
    }
    await ring(messages, draft);
    return null;
  }

  /** The one whose recipient was opened last. */
  async #newest<Open extends { readonly draft: MessageDraft }>(open: readonly Open[]): Promise<Open | undefined> {
    if (open.length < 2) return open[0];
    for (const { summary } of await this.#world.sessions()) {
      const one = open.find(({ draft }) => draft.to === `session:${summary.sessionId}`);
      if (one) return one;
    }
    return open[0];
  }
}

async function found(
  boxes: readonly Box[],
  id: string,
): Promise<{ readonly messages: MessageStore; readonly message: Message } | null> {
  for (const { messages } of boxes) {
    const message = await messages.find(id);
    if (message) return { messages, message };
  }
  return null;
}

/** A message that was sent to this node; another node cannot report on it. */
async function sentTo(boxes: readonly Box[], node: string, id: string): ReturnType<typeof found> {
  const sent = await found(boxes, id);
  return sent?.message.to.endsWith(`@${node}`) ? sent : null;
}

function letterOf(message: Message, node: string, waits: readonly Wait[], now: number): Letter {
  const { id, kind, act, from, author, to, text, ref } = message;
  const until = waits.find((wait) => wait.id === id)?.until;
  return {
    ...{ id: outward(id, node), kind, act, from: outward(from, node), author, to: outward(to, node), text },
    ref: ref === null ? null : outward(ref, node),
    leftMs: until === undefined ? null : until - now,
  };
}

const wireWait = ({ id, waiter, target, until }: Wait, node: string, now: number) => ({
  id: outward(id, node),
  waiter: outward(waiter, node),
  target: outward(target, node),
  leftMs: until - now,
});

/** Replaces the waits of a node. A wait for an agent is one for the session that got the whistle. */
async function putWaits(boxes: readonly Box[], node: string, waits: NonNullable<NodeMailBody['waits']>): Promise<void> {
  const now = Date.now();
  const own: Wait[] = [];
  for (const { id: wireId, waiter, target, leftMs } of waits) {
    const id = inward(wireId, node);
    const whistle = await found(boxes, id);
    const to = whistle?.message.to ?? inward(target, node);
    own.push({ id, waiter: inward(waiter, node), target: to, until: now + leftMs });
  }
  for (const { messages } of boxes) await messages.putWaits(node, own);
}

/** The note to the sender of a message that was not delivered. It ends the wait of a whistle. */
const refusalOf = ({ id, kind, from }: Message, node: string, text: string): MessageDraft => ({
  id: `u-${hash('sha256', id).slice(0, 32)}`,
  kind: 'bell',
  act: kind === 'whistle' ? 'answer' : 'assert',
  from: `node:${node}`,
  author: node,
  to: from,
  text: `Not delivered: ${text}.`,
  ref: id,
});
