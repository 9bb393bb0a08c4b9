import { ApiError } from '../api-error.ts';

/** The parts of a request that a browser sets and a page cannot change. */
interface BrowserHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly site: string | undefined;
  readonly method: string;
  /** True for the navigation of a browser to the page itself, which is harmless because the page contains no data. */
  readonly visits: boolean;
}

/**
 * Refuses a request that another web page could have caused. The Host must be a name of this server, which defeats DNS
 * rebinding. An Origin must match the Host. Sec-Fetch-Site must say that this page sent the request, or a person who
 * entered the address. Only the page itself may be opened by a link. Programs send neither Origin nor Sec-Fetch-Site.
 * @param hosts the server's own names with the port: `127.0.0.1:4780`; null allows any name, but no browser
 * @throws ApiError `wrong-host`, `wrong-origin`
 */
export function checkRequestOrigin(
  hosts: readonly string[] | null,
  { host, origin, site, method, visits }: BrowserHeaders,
): void {
  if (hosts === null) {
    if (origin === undefined && site === undefined) return;
    throw new ApiError(
      'wrong-origin',
      'this endpoint does not accept requests from a browser',
      'Call it from a program, without Origin.',
    );
  }
  if (host === undefined || !hosts.includes(host))
    throw new ApiError(
      'wrong-host',
      'the Host of this request is not a name of this server',
      `Use http://${hosts[0]} as the address.`,
    );
  const isReading = method === 'GET' || method === 'HEAD';
  const isForeign = origin !== undefined && origin !== `http://${host}`;
  const isCaused = site !== undefined && site !== 'same-origin' && !(site === 'none' && isReading) && !visits;
  if (isForeign || isCaused)
    throw new ApiError(
      'wrong-origin',
      'another page caused this request',
      `Open http://${hosts[0]} itself; other pages cannot use this server.`,
    );
}
