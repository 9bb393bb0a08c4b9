export class ServerRefusal extends Error {
  override readonly name = 'ServerRefusal';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The item of the tab's storage with the page key. It is useless without the cookie, which no script can read. */
const PAGE_KEY_ITEM = 'hopgate-page';

/** A part of the address's fragment: the `code` for a login, or the shown `session`. */
export const inAddress = (name: 'code' | 'session'): string | null =>
  new URLSearchParams(location.hash.slice(1)).get(name);
export const addressOf = (session: string | null): string =>
  location.pathname + (session === null ? '' : `#session=${encodeURIComponent(session)}`);

/** The server's HTTP interface, as the logged in operator. */
export class ServerApi {
  #key = sessionStorage.getItem(PAGE_KEY_ITEM) ?? '';

  get loggedIn(): boolean {
    return this.#key !== '';
  }

  /** Exchanges the address's one-use code for a login, and removes it. */
  async logIn(): Promise<void> {
    const code = inAddress('code');
    if (code === null) return;
    history.replaceState(null, '', addressOf(inAddress('session')));
    const { page } = await this.post<{ page: string }>('/v1/login', { code });
    this.#key = page;
    sessionStorage.setItem(PAGE_KEY_ITEM, page);
  }

  /** Forgets the login, for example because it has ended. */
  forget(): void {
    this.#key = '';
    sessionStorage.removeItem(PAGE_KEY_ITEM);
  }

  async get<Answer>(path: string): Promise<Answer> {
    return (await (await this.#ask(path)).json()) as Answer;
  }

  async post<Answer>(path: string, body: unknown): Promise<Answer> {
    const init = { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
    return (await (await this.#ask(path, init)).json()) as Answer;
  }

  /** Reads a stream of Server-Sent Events: yields the data of each, until the server ends it. */
  async *events(path: string, signal: AbortSignal): AsyncGenerator<{ readonly id: string; readonly data: unknown }> {
    const { body } = await this.#ask(path, { signal });
    if (!body) return;
    let rest = '';
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split('\n\n');
      rest = parts.pop()!;
      for (const part of parts) {
        const fields = Object.fromEntries(
          part.split('\n').map((line) => [line.split(':')[0]!, line.slice(line.indexOf(':') + 2)]),
        );
        if (fields['data'] !== undefined) yield { id: fields['id'] ?? '', data: JSON.parse(fields['data']) };
      }
    }
  }

  async #ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), 'X-Hopgate-Page': this.#key };
    const answer = await fetch(path, { ...init, headers, credentials: 'same-origin', cache: 'no-store' });
    if (answer.ok) return answer;
    const { error } = (await answer.json().catch(() => ({}))) as { error?: { message: string; remedy: string } };
    throw new ServerRefusal(
      answer.status,
      error ? `${error.message}. ${error.remedy}` : `the server answered ${answer.status}`,
    );
  }
}
