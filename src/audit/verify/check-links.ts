import { hash } from 'node:crypto';
import type { ChainProblem } from '../../evidence/chain.ts';
import type { ChainHead, StoredEntry } from '../../evidence/entry.ts';

const sha256 = (text: string): string => hash('sha256', text);

/**
 * Checks one link of a chain on the stored bytes. It trusts that `entry` matches these bytes, as a store guarantees;
 * use `verifyChain` for entries from elsewhere.
 * @returns null if the entry follows `last` and nothing was changed
 */
export function checkChainLink(last: ChainHead, { entry, head, body }: StoredEntry): readonly ChainProblem[] | null {
  const { seq, id, prev } = entry;
  const hashed = sha256(prev + head) === entry.hash;
  const bodied = body === null || sha256(body) === entry.bodyHash;
  if (hashed && bodied && prev === last.hash && seq === last.seq + 1) return null;
  const problems: ChainProblem[] = [];
  const add = (rule: ChainProblem['rule'], message: string) => problems.push({ seq, id, rule, message });
  if (!hashed) add('hash', 'the bytes of the entry are not those that were hashed: it was changed');
  if (!bodied) add('body', 'the bytes of its body are not those that were hashed: the body was changed');
  if (prev !== last.hash) add('prev', `the entry does not follow the one before it (seq ${last.seq})`);
  if (seq !== last.seq + 1)
    add('seq', `seq ${last.seq + 1} was expected: an entry is missing, doubled or out of order`);
  return problems;
}
