import { circleOfWaits } from '../../messages/circle-of-waits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Message, MessageStore, Receipt, Wait } from '../../ports/message-store.ts';
import { RECEIPTS } from '../../spec/policy/closed-lists.ts';

/** Inboxes in memory: the reference implementation of `test/contracts/message-store.ts`. */
export function memoryMessages(clock: Clock): MessageStore & { endWaitsOf(waiter: string): void } {
  const messages = new Map<string, Message>();
  const receipts: (Receipt & { readonly sender: string })[] = [];
  const waits = new Map<string, Wait>();
  const people = new Set(['operator']);
  const nodes = new Set<string>();
  const now = () => new Date(clock.now()).toISOString();
  const record = (message: Message, state: Receipt['state']): void => {
    messages.set(message.id, { ...message, state });
    receipts.push({ nth: receipts.length + 1, sender: message.from, message: message.id, state, at: now() });
  };
  const inOrder = () => [...messages.values()];
  return {
    async send(draft) {
      const known = messages.get(draft.id);
      if (known) return known;
      const seq = Math.max(0, ...inOrder().flatMap(({ to, seq }) => (to === draft.to ? [seq] : []))) + 1;
      const message: Message = { ...draft, seq, sentAt: now(), state: 'sent' };
      record(message, 'sent');
      return message;
    },
    async inbox(address, { after = 0, unread = false, limit = Number.POSITIVE_INFINITY } = {}) {
      return inOrder()
        .filter(({ to, seq, state }) => to === address && seq > after && !(unread && isRead(state)))
        .sort((a, b) => a.seq - b.seq)
        .slice(0, limit);
    },
    find: async (id) => messages.get(id) ?? null,
    answerTo: async (id) => inOrder().find(({ ref, act }) => ref === id && act === 'answer') ?? null,
    async mark(id, state) {
      const message = messages.get(id);
      if (!message || RECEIPTS.indexOf(message.state) >= RECEIPTS.indexOf(state)) return false;
      record(message, state);
      return true;
    },
    receipts: async (sender, after) =>
      receipts.filter((each) => each.sender === sender && each.nth > after).map(({ sender: _, ...receipt }) => receipt),
    hasNews: async (address, { seq, receipt }) =>
      inOrder().some((message) => message.to === address && message.seq > seq) ||
      receipts.some(({ sender, nth }) => sender === address && nth > receipt),
    async wait(wait) {
      const circle = circleOfWaits([...waits.values()], wait, clock.now());
      if (circle === null) waits.set(wait.id, wait);
      return circle;
    },
    async endWait(id) {
      waits.delete(id);
    },
    endWaitsOf(waiter) {
      for (const wait of waits.values()) if (wait.waiter === waiter) waits.delete(wait.id);
    },
    waits: async (now) => [...waits.values()].filter(({ until }) => until > now),
    async putWaits(node, fresh) {
      for (const id of waits.keys()) if (id.endsWith(`@${node}`)) waits.delete(id);
      for (const wait of fresh) waits.set(wait.id, wait);
    },
    nodes: async () => [...nodes].sort(),
    async addNode(name) {
      nodes.add(name);
    },
    async mailFor(node, after, limit) {
      const isThere = (address: string) => address.endsWith(`@${node}`);
      const isRefused = (id: string) => inOrder().some(({ from, ref }) => ref === id && from === `node:${node}`);
      const placed = inOrder().map((message, index) => ({ message, nth: index + 1 }));
      const found = placed
        .filter(({ message: { id, to, state }, nth }) => {
          const isDue = isThere(to) && state === 'sent' && nth > after.message;
          return isDue && !isRefused(id);
        })
        .slice(0, limit);
      const read = receipts
        .filter(({ sender, nth, state }) => isThere(sender) && nth > after.receipt && isReport(state))
        .slice(0, limit);
      return {
        messages: found.map(({ message }) => message),
        receipts: read.map(({ sender: _, ...receipt }) => receipt),
        place: {
          message: found.length === limit ? found.at(-1)!.nth : Math.max(after.message, placed.length),
          receipt: read.length === limit ? read.at(-1)!.nth : Math.max(after.receipt, receipts.length),
        },
      };
    },
    people: async () => [...people],
    async addPerson(name) {
      people.add(name);
    },
    async eraseTexts(address) {
      for (const message of inOrder())
        if (message.from === address || message.to === address) messages.set(message.id, { ...message, text: '' });
    },
  };
}

const isRead = (state: Message['state']): boolean => state === 'read' || state === 'answered';

/** True for the states that only the recipient's machine can know. */
const isReport = (state: Message['state']): boolean => state === 'delivered' || state === 'read';
