import { hash } from 'node:crypto';
import type { BlockedSender } from '../../ports/message-store.ts';
import { MAX_MAIL_WAIT_MS, MAX_WAITS_PER_MAIL, type NodeMailBody } from './mail-schema.ts';

/*
 * A wait cycle (deadlock) can include several machines, and each machine knows only its own waits. With its waits for
 * somebody on another node, a machine sends that node tokens: of these waits, and of all waits for their waiters,
 * directly or through other waits. A token is a hash of a wait, without names. A machine that receives the token of its
 * own wait knows how that wait continues, and finds the cycle in its own rows.
 */

/** A name as the mail to `node` spells it. Inverse: {@link readNameFromNode}. */
export function spellNameForNode(name: string, node: string): string {
  const end = `@${node}`;
  if (name.endsWith(end)) return name.slice(0, -end.length);
  return name.includes('@') ? name : `${name}@`;
}

/**
 * The name that this machine stores for a name in the mail from `node`: a name that ends with `@` belongs to that node.
 */
export const readNameFromNode = (name: string, node: string): string => (name.endsWith('@') ? `${name}${node}` : name);

const isOwn = ({ id }: Pick<BlockedSender, 'id'>): boolean => !id.includes('@');

const TOKEN = /^(wait-[0-9a-f]{32})\.\d+@/;

/** The token of a wait: computed for a row of this machine, received for a row of another machine. */
const tokenOf = (row: BlockedSender): string | null => {
  if (!isOwn(row)) return TOKEN.exec(row.id)?.[1] ?? null;
  const { id, waiter, target, until } = row;
  return `wait-${hash('sha256', JSON.stringify([id, waiter, target, until])).slice(0, 32)}`;
};

type WireWaits = Required<Pick<NodeMailBody, 'waits' | 'behind'>>;

/** The waits for somebody at a node, and the tokens of all waits that depend on them. */
export function waitsForNode(rows: readonly BlockedSender[], node: string, now: number): WireWaits {
  const open = rows.filter(({ until }) => until > now);
  const ownWaits = open.filter((row) => isOwn(row) && row.target.endsWith(`@${node}`)).slice(0, MAX_WAITS_PER_MAIL);
  const left = (until: number): number => Math.min(until - now, MAX_MAIL_WAIT_MS);
  const behind = [...new Set(ownWaits.map(({ waiter }) => waiter))].flatMap((waiter) =>
    [...tokensBehind(open, waiter)].map(([token, until]) => ({ token, target: waiter, until })),
  );
  // The token of a wait ends at the wait, not at its waiter, because a person may have several waits.
  const ourWaits = ownWaits.map((row) => ({ token: tokenOf(row)!, target: row.id, until: row.until }));
  return {
    waits: ownWaits.map(({ id, waiter, target, until }) => ({
      id: spellNameForNode(id, node),
      waiter: spellNameForNode(waiter, node),
      target: spellNameForNode(target, node),
      leftMs: left(until),
    })),
    behind: [...ourWaits, ...behind].slice(0, MAX_WAITS_PER_MAIL).map(({ token, target, until }) => ({
      token,
      target: spellNameForNode(target, node),
      leftMs: left(until),
    })),
  };
}

/** The tokens of the waits that end at an address, directly or over others, with the time until which each lasts. */
function tokensBehind(open: readonly BlockedSender[], address: string): Map<string, number> {
  const ourWaits = new Set(open.filter(isOwn).map(tokenOf));
  const tokens = new Map<string, number>();
  const reached = new Map<string, number>();
  const paths: (readonly [string, number])[] = [[address, Number.POSITIVE_INFINITY]];
  for (let path = paths.pop(); path; path = paths.pop()) {
    const [at, left] = path;
    if (left <= (reached.get(at) ?? 0)) continue;
    reached.set(at, left);
    for (const row of open) {
      if (row.target !== at || row.waiter === address) continue;
      const until = Math.min(left, row.until);
      const token = tokenOf(row);
      // A mailed row may carry the token of one of this machine's waits. The token is left out, because the search
      // follows the wait itself.
      if (token !== null && (isOwn(row) || !ourWaits.has(token)))
        tokens.set(token, Math.max(until, tokens.get(token) ?? 0));
      paths.push([row.waiter, until], [row.id, until]);
    }
  }
  return tokens;
}

/**
 * The waits in the mail of a node as rows of this machine.
 * @param ourWaits the waits of this machine
 * @param targets the recipients by the id of a delivered whistle that waits for its answer
 */
export function waitRowsFromMail(
  { waits, behind }: WireWaits,
  node: string,
  ourWaits: readonly BlockedSender[],
  targets: ReadonlyMap<string, string>,
  now: number,
): readonly BlockedSender[] {
  const targetOf = new Map(ourWaits.filter(isOwn).map((row) => [tokenOf(row), row.target]));
  const direct = waits.flatMap(({ id: wireId, waiter, leftMs }) => {
    const id = readNameFromNode(wireId, node);
    const target = targets.get(id);
    return target === undefined ? [] : [{ id, waiter: readNameFromNode(waiter, node), target, until: now + leftMs }];
  });
  const further = behind.map(({ token, target, leftMs }, index) => ({
    id: `${token}.${index}@${node}`,
    waiter: targetOf.get(token) ?? token,
    target: readNameFromNode(target, node),
    until: now + leftMs,
  }));
  return [...direct, ...further];
}

/** A hash of waits, to detect a change that must be sent. Times are rounded to 10 s. */
export const hashOfWaits = ({ waits, behind }: WireWaits, now: number): string => {
  const rounded = (leftMs: number): number => Math.round((now + leftMs) / 10_000);
  const parts = [...waits, ...behind].map(({ leftMs, ...each }) => JSON.stringify([each, rounded(leftMs)]));
  return hash('sha256', JSON.stringify(parts.sort()));
};

/**
 * The names in a wait cycle, as the mail to `node` writes them. Successive names on other machines than this one and
 * `node` become one empty name.
 */
export const spellWaitCycleForNode = (cycle: readonly string[], node: string): string[] =>
  cycle
    .map((name) => (name.includes('@') && !name.endsWith(`@${node}`) ? '' : spellNameForNode(name, node)))
    .filter((name, index, all) => name !== '' || all[index - 1] !== '');

export const describeWaitCycleOfNode = (cycle: readonly string[], node: string): string =>
  cycle.map((name) => (name === '' ? 'another machine' : readNameFromNode(name, node))).join(' → ');
