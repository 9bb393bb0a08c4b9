import { randomBytes } from 'node:crypto';
import { areSecretsEqual } from './tokens.ts';

/** How long a one-use code is valid, in milliseconds. */
const CODE_MS = 60_000;
/** How long a login lasts, in milliseconds. */
const LOGIN_MS = 12 * 60 * 60_000;
/** Maximum number of simultaneous logins; the oldest ends first. */
const MAX_LOGINS = 20;

interface Login {
  readonly cookie: string;
  readonly page: string;
  readonly until: number;
}

/**
 * The operator's logins in a browser, in memory only. A one-use code becomes a cookie, which no script can read, and a
 * page key, which the page keeps and sends as a header. A request needs both: a browser sends the cookie to every port
 * of this machine, so that a cookie alone proves nothing. Several pages of one browser share its cookie.
 */
export class BrowserLogins {
  readonly #codes = new Map<string, number>();
  #logins: Login[] = [];
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Makes a one-use code that a browser can exchange for a login within a minute. */
  issueCode(): string {
    const code = randomBytes(24).toString('base64url');
    this.#codes.set(code, this.#now() + CODE_MS);
    return code;
  }

  /**
   * Exchanges a code for a login; null if it was used, has expired, or never existed.
   * @param cookie the browser's cookie. If a login has this cookie, the new login has it too, because a browser keeps
   * only one cookie
   */
  begin(code: string, cookie = ''): Login | null {
    const until = this.#codes.get(code);
    this.#codes.delete(code);
    if (until === undefined || this.#now() >= until) return null;
    const isKept = this.#logins.some((one) => areSecretsEqual(cookie, one.cookie) && this.#now() < one.until);
    const login = {
      cookie: isKept ? cookie : randomBytes(32).toString('base64url'),
      page: randomBytes(32).toString('base64url'),
      until: this.#now() + LOGIN_MS,
    };
    this.#logins.push(login);
    if (this.#logins.length > MAX_LOGINS) this.#logins.shift();
    return login;
  }

  /** True if the cookie and the page key belong to one login that has not ended. */
  holds(cookie: string, page: string): boolean {
    return this.#logins.some(
      (one) => areSecretsEqual(cookie, one.cookie) && areSecretsEqual(page, one.page) && this.#now() < one.until,
    );
  }

  /** Ends the logins of all pages of a browser. */
  end(cookie: string): void {
    this.#logins = this.#logins.filter((one) => !areSecretsEqual(cookie, one.cookie));
  }
}

export const LOGIN_COOKIE_SECONDS = LOGIN_MS / 1000;
