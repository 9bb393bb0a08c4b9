import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { getOrInsert } from '../../base/get-or-insert.ts';
import { connectionProblem, type HostAndPort } from '../../gate/scope/host-names.ts';
import { isPublicAddress } from '../web/public-address.ts';

export type ResolveName = (host: string) => Promise<readonly string[]>;

const SYSTEM: ResolveName = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** An allowed host with its addresses, or the reason why no connection to it is allowed. */
type ReachableHost = { readonly host: string; readonly addresses: readonly string[] } | { readonly problem: string };

/** Resolves each listed name once (DNS rebinding), and no other name, so that a command cannot send data in names. */
export function pinHostNames(list: readonly string[], resolve: ResolveName = SYSTEM) {
  const cached = new Map<string, Promise<readonly string[]>>();
  const addressesOf = (host: string): Promise<readonly string[]> => {
    const found = getOrInsert(cached, host, () => resolve(host));
    // A failure is not cached: a later attempt may succeed.
    found.catch(() => cached.delete(host));
    return found;
  };
  /** @param elsewhere true if another proxy resolves the name, so that it need not have an address here */
  return async (target: HostAndPort, elsewhere: boolean): Promise<ReachableHost> => {
    const { host } = target;
    const refusal = connectionProblem(list, target, [], isPublicAddress);
    if (refusal !== null) return { problem: refusal };
    let addresses: readonly string[];
    try {
      addresses = isIP(host) === 0 ? await addressesOf(host) : [host];
    } catch (error) {
      if (elsewhere) return { host, addresses: [] };
      return { problem: `its name cannot be resolved (${(error as NodeJS.ErrnoException).code})` };
    }
    if (addresses.length === 0 && !elsewhere) return { problem: 'its name has no address' };
    const problem = connectionProblem(list, target, addresses, isPublicAddress);
    return problem === null ? { host, addresses } : { problem };
  };
}
