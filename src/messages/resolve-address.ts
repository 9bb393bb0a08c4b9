/** The inboxes of a store: its sessions, newest first, the people, and other machines. */
interface AddressBook {
  readonly sessions: readonly { readonly id: string; readonly agent: string; readonly closed: boolean }[];
  readonly people: readonly string[];
  /** The names of the machines that exchange messages with this one; none by default. */
  readonly nodes?: readonly string[];
}

/** The recipient that an address means, or the reason why it means none, with suggested addresses. */
type ResolvedAddress =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly message: string; readonly candidates: readonly string[] };

/** Minimum number of characters with which an address may abbreviate a session id. */
const MIN_PREFIX = 6;
const MAX_CANDIDATES = 10;

/**
 * Resolves an address: `session:<id>` (or the first characters of the id), `agent:<id>` (its newest open session),
 * `person:<name>`, or a bare name that only one of these has. An address with `@<node>` at the end is resolved by that
 * machine when the message arrives there. Pure.
 *
 * @example resolveAddress('agent:codex', { sessions: [{ id: 's-1', agent: 'codex', closed: false }], people: [] })
 * // { ok: true, address: 'session:s-1' }
 */
export function resolveAddress(text: string, directory: AddressBook): ResolvedAddress {
  const typed = text.trim();
  const colon = typed.indexOf(':');
  const kind = colon < 0 ? null : typed.slice(0, colon);
  const name = typed.slice(colon + 1);
  if (typed.includes('@')) return resolveRemote(typed, directory);
  const finders: readonly string[] = kind === null ? ['person', 'agent', 'session'] : [kind];
  if (kind !== null && !Object.hasOwn(FIND, kind))
    return refuse(
      `"${typed}" is not an address; write session:<id>, agent:<id> or person:<name>`,
      addressesIn(directory),
    );
  const found = finders.flatMap((each) => FIND[each]!(name, directory));
  const [address, second] = found;
  if (address !== undefined && second === undefined) return { ok: true, address };
  if (address !== undefined) return refuse(`"${typed}" names more than one inbox`, found);
  const closed = directory.sessions.find((each) => each.closed && (each.id === name || each.agent === name));
  return refuse(
    closed ? `the session of "${typed}" is closed` : `nobody has the address "${typed}"`,
    addressesIn(directory),
  );
}

/** Matches an address on another machine: `session:<id>@<node>`, … */
const REMOTE = /^(?:session|agent|person):([^@\s]{1,200})@([^@\s]+)$/;

function resolveRemote(address: string, directory: AddressBook): ResolvedAddress {
  const [, name, node] = REMOTE.exec(address) ?? [];
  const nodes = directory.nodes ?? [];
  if (name !== undefined && nodes.includes(node!)) return { ok: true, address };
  const message =
    name === undefined
      ? `"${address}" is not an address; write session:<id>@<node>, agent:<id>@<node> or person:<name>@<node>`
      : `no machine "${node}" exchanges messages with this one`;
  const far = nodes.map((each) => `agent:<id>@${each}`);
  return refuse(message, [...far, ...addressesIn(directory)]);
}

/** True if `sender` may answer a message to `recipient`. Only the recipient's machine knows which session got it. */
export function isMessageRecipient(sender: string, recipient: string): boolean {
  if (sender === recipient) return true;
  const at = recipient.lastIndexOf('@');
  if (at < 0) return false;
  const isAgent = recipient.startsWith('agent:') && sender.startsWith('session:');
  return sender === `node:${recipient.slice(at + 1)}` || (isAgent && sender.endsWith(recipient.slice(at)));
}

const FIND: { readonly [kind: string]: (name: string, directory: AddressBook) => readonly string[] } = {
  person: (name, { people }) => (people.includes(name) ? [`person:${name}`] : []),
  agent: (name, { sessions }) =>
    sessions
      .filter(({ agent, closed }) => agent === name && !closed)
      .slice(0, 1)
      .map(addressOf),
  session: (name, { sessions }) => {
    const open = sessions.filter(({ closed }) => !closed);
    const exact = open.filter(({ id }) => id === name);
    if (exact.length > 0 || name.length < MIN_PREFIX) return exact.map(addressOf);
    return open.filter(({ id }) => id.startsWith(name)).map(addressOf);
  },
};

const addressOf = ({ id }: AddressBook['sessions'][number]): string => `session:${id}`;

function addressesIn({ sessions, people }: AddressBook): readonly string[] {
  const agents = [...new Set(sessions.filter(({ closed }) => !closed).map(({ agent }) => agent))];
  return [...people.map((name) => `person:${name}`), ...agents.map((agent) => `agent:${agent}`)];
}

const refuse = (message: string, candidates: readonly string[]): ResolvedAddress => ({
  ok: false,
  message,
  candidates: candidates.slice(0, MAX_CANDIDATES),
});
