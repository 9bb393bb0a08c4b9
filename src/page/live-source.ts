import { type Signal, signal } from '@preact/signals';
import { excerpt } from '../base/text.ts';
import type { Entry } from '../evidence/entry.ts';
import { entryDetailOf } from '../view/entry-detail.ts';
import type { ViewFrame, ViewGraph, ViewState } from '../view/view-state.ts';
import { operatorActionsOver, sessionApiPath } from './operator-actions.ts';
import type {
  InboxMessage,
  OperatorActions,
  PageData,
  SessionOnPage,
  ValidGrant,
  WaitingRequest,
} from './page-data.ts';
import { addressOf, inAddress, ServerApi, ServerRefusal } from './server-api.ts';
import { SessionStore } from './session-store.ts';

const MAX_FRAMES = 5_000;
const MAX_SESSIONS = 60;
/** Interval for polling the requests and messages to the operator, in milliseconds. Each refusal also causes a read. */
const WAITING_POLL_MS = 2_000;
/** Time after which a poll without an answer is an alarm, in milliseconds. */
const MUTE_MS = 5_000;
const RETRY_MS = 1_500;
/**
 * Update intervals in milliseconds: `CARD_MS` for a card of the overview, `BEHIND_MS` for a session that is not shown.
 */
const CARD_MS = 1_000;
const BEHIND_MS = 5_000;
const NO_ANSWER = 'The server does not answer. The page tries again by itself.';

interface FramePage {
  readonly before: ViewState;
  readonly frames: readonly ViewFrame[];
  readonly next: number | null;
}
interface Snapshot {
  readonly state: ViewState;
  readonly newest: Pick<FramePage, 'before' | 'frames'> & { readonly past: boolean };
  readonly graph: ViewGraph;
}
interface SessionPage {
  readonly sessions: readonly { readonly session: string; readonly root: string | null; readonly closed: boolean }[];
  readonly next: string | null;
}

/** The sessions of a running server, live. `chosen` is the shown session, which the page's address names. */
export const makeLiveSource = (chosen: Signal<string | null>): PageData => new LiveSource(new ServerApi(), chosen);

class LiveSource implements PageData {
  readonly sessions = signal<readonly SessionOnPage[]>([]);
  readonly waiting = signal<readonly WaitingRequest[]>([]);
  readonly grants = signal<readonly ValidGrant[]>([]);
  readonly messages = signal<readonly InboxMessage[]>([]);
  readonly unread = signal(0);
  readonly trouble = signal<string | null>(null);
  readonly connection = signal<'connecting' | 'live' | 'offline'>('connecting');
  readonly listed = signal<{ readonly count: number; readonly more: boolean } | null>(null);
  readonly loading = signal(true);
  readonly acts: OperatorActions;
  readonly #api: ServerApi;
  readonly #loading = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();

  readonly #chosen: Signal<string | null>;

  constructor(api: ServerApi, chosen: Signal<string | null>) {
    this.#api = api;
    this.#chosen = chosen;
    this.acts = operatorActionsOver(api, () => this.#readWaiting());
    chosen.value = inAddress('session');
    chosen.subscribe((shown) => {
      if (shown !== inAddress('session')) history.pushState(null, '', addressOf(shown));
      if (shown !== null) this.#open(shown);
    });
    // A new code in the address of an open page begins a new login.
    addEventListener('hashchange', () => {
      if (inAddress('code') !== null) location.reload();
      else chosen.value = inAddress('session');
    });
    void this.#run();
  }

  #open(id: string): void {
    void this.#readHistory(id).catch((error: unknown) => this.#report(error));
  }

  async detail(session: string, seqs: readonly number[]) {
    const found = await Promise.all(
      seqs.map((seq) => this.#api.get<{ entries: Entry[] }>(`${sessionApiPath(session)}/evidence?from=${seq}&limit=1`)),
    );
    return found.flatMap(({ entries }) => entries.map(entryDetailOf));
  }

  async #run(): Promise<void> {
    for (;;) {
      try {
        await this.#api.logIn();
        if (!this.#api.loggedIn) {
          this.connection.value = 'offline';
          this.trouble.value = 'This page is not logged in. Run "hopgate serve --open" in a terminal.';
          return;
        }
        await this.#follow();
      } catch (error) {
        this.connection.value = 'offline';
        this.#report(error);
        if (error instanceof ServerRefusal && (error.status === 401 || error.status === 403)) {
          this.#api.forget();
          return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #report(error: unknown): void {
    this.trouble.value = error instanceof ServerRefusal ? error.message : NO_ANSWER;
  }

  async #follow(): Promise<void> {
    const ended = new AbortController();
    let polling = false;
    const poll = async () => {
      if (polling) return;
      polling = true;
      await this.#readWaiting();
      polling = false;
    };
    const timer = setInterval(() => void poll(), WAITING_POLL_MS);
    try {
      // The stream begins before the list is read, so that no entry is missed in between.
      const events = this.#api.events('/v1/events', ended.signal);
      const firstEvent = events.next();
      firstEvent.catch(() => {}); // The list fails for the same reason, which is then reported.
      const { sessions, next } = await this.#api.get<SessionPage>(`/v1/sessions?limit=${MAX_SESSIONS}`);
      const listed = sessions.filter(({ root }) => root !== null);
      this.listed.value = { count: listed.length, more: next !== null };
      this.connection.value = 'live';
      this.trouble.value = null;
      const first = new Set(listed.flatMap(({ session, closed }) => (closed ? [] : session)));
      if (this.#chosen.value !== null) first.add(this.#chosen.value);
      // A session that cannot be read, for example because its evidence was altered, must not hide the others.
      await Promise.all([this.#readWaiting(), ...[...first].map((id) => this.#readInTurn([id]))]);
      this.loading.value = false;
      // Closed sessions can be long and do not change, so they are read one after the other.
      void this.#readInTurn(listed.map(({ session }) => session).filter((id) => !first.has(id)));
      const shown = this.#chosen.value ?? (this.sessions.value.length === 1 ? this.sessions.value[0]!.id : null);
      if (shown !== null) this.#open(shown);
      for (let event = await firstEvent; !event.done; event = await events.next()) {
        const { source, type } = event.value.data as { readonly source: string; readonly type: string };
        const session = decodeURIComponent(source);
        if (session !== '') this.#readSoon(session);
        if (type.includes('.denial.')) void this.#readWaiting();
      }
    } finally {
      this.connection.value = 'offline';
      ended.abort();
      clearInterval(timer);
    }
  }

  async #readInTurn(sessions: readonly string[]): Promise<void> {
    for (const session of sessions) await this.#read(session).catch((error: unknown) => this.#report(error));
  }

  #timers = new Set<string>();
  /** The sessions whose history is being read. */
  #histories = new Set<string>();

  /** The shown session is read immediately, the others sometimes, because a browser has only six connections. */
  #readSoon(id: string): void {
    const read = () => void this.#read(id).catch((error: unknown) => this.#report(error));
    const shown = this.#chosen.value;
    if (id === shown || this.sessions.value.length === 1) return read();
    if (this.#timers.has(id)) return;
    this.#timers.add(id);
    setTimeout(
      () => {
        this.#timers.delete(id);
        read();
      },
      shown === null ? CARD_MS : BEHIND_MS,
    );
  }

  /** Reads the new frames of a session, with one request at a time. */
  #read(id: string): Promise<void> {
    const running = this.#loading.get(id);
    if (running) {
      this.#again.add(id);
      return running;
    }
    const reading = this.#readNew(id).finally(() => {
      this.#loading.delete(id);
      if (this.#again.delete(id)) void this.#read(id).catch((error: unknown) => this.#report(error));
    });
    this.#loading.set(id, reading);
    return reading;
  }

  async #readNew(id: string): Promise<void> {
    const known = this.sessions.value.find((session) => session.id === id);
    if (known) {
      const { store } = known;
      for (let from: number | null = store.next; from !== null; ) {
        const wasPartial = store.partial.value;
        const page: FramePage = await this.#api.get(`${sessionApiPath(id)}/frames?from=${from}&limit=${MAX_FRAMES}`);
        // The history arrived in the meantime, so these frames may not belong to its state.
        if (wasPartial !== store.partial.value) return this.#readNew(id);
        store.add(page.frames, page.before);
        from = page.next;
      }
      return;
    }
    const { graph, newest, state } = await this.#api.get<Snapshot>(`${sessionApiPath(id)}/snapshot`);
    const store = new SessionStore();
    store.partial.value = newest.past;
    store.add(newest.frames, newest.before);
    const folder = excerpt(state.root?.split('/').at(-1) || (state.root ?? ''), 80);
    this.sessions.value = [...this.sessions.value, { id, folder, graph, store }];
  }

  async #readHistory(id: string): Promise<void> {
    const store = this.sessions.value.find((session) => session.id === id)?.store;
    if (!store || store.first === 0 || this.#histories.has(id)) return;
    this.#histories.add(id);
    try {
      const earlier: ViewFrame[] = [];
      // Without their history these frames have no states, so all frames are read again.
      const end = () => (store.partial.value ? store.next : store.first);
      for (let from: number | null = 0; from !== null && from < end(); ) {
        const page: FramePage = await this.#api.get(`${sessionApiPath(id)}/frames?from=${from}&limit=${MAX_FRAMES}`);
        earlier.push(...page.frames);
        from = page.next;
      }
      store.prepend(earlier);
    } finally {
      this.#histories.delete(id);
    }
  }

  /** Reads all that waits for the operator. A part that cannot be read does not hide the others. */
  async #readWaiting(): Promise<void> {
    // A stopped server keeps its connections open.
    const mute = setTimeout(() => {
      this.connection.value = 'offline';
      this.#report(null);
    }, MUTE_MS);
    const reads = await Promise.allSettled([this.#readRequests(), this.#readGrants(), this.#readMessages()]);
    clearTimeout(mute);
    const failed = reads.filter(({ status }) => status === 'rejected');
    for (const { reason } of failed as PromiseRejectedResult[]) this.#report(reason);
    // A server that answers again may have kept the stream of events.
    if (failed.length > 0 || this.trouble.value !== NO_ANSWER) return;
    this.trouble.value = null;
    this.connection.value = 'live';
  }

  async #readRequests(): Promise<void> {
    const { approvals } = await this.#api.get<{ approvals: ListedApproval[] }>('/v1/approvals');
    const open = approvals.filter(({ answer }) => answer === null);
    const known = this.waiting.value;
    for (const { session } of open) if (!this.sessions.value.some(({ id }) => id === session)) this.#readSoon(session);
    if (open.map(({ id }) => id).join() === known.map(({ id }) => id).join()) return;
    const cards = await Promise.all(
      open.map(async (one) => known.find(({ id }) => id === one.id) ?? this.#readCard(one)),
    );
    this.waiting.value = cards.filter((card) => card !== null);
  }

  async #readGrants(): Promise<void> {
    const { grants } = await this.#api.get<{ grants: (ValidGrant & { readonly over: string | null })[] }>('/v1/grants');
    setIfChanged(
      this.grants,
      grants.filter(({ over }) => over === null),
    );
  }

  async #readMessages(): Promise<void> {
    const oldest = await this.#api.get<InboxPage>('/v1/inbox?unread=true');
    const waiting = oldest.more ? await this.#api.get<InboxPage>('/v1/inbox?unread=true&waiting=true') : oldest;
    const known = new Set(oldest.messages.map(({ id }) => id));
    const later = waiting.messages.filter(({ id }) => !known.has(id));
    setIfChanged(this.messages, [...oldest.messages, ...later]);
    this.unread.value = oldest.unread;
  }

  /** Reads the card of a request; null if the request was settled in the meantime, or cannot be read. */
  async #readCard(one: ListedApproval): Promise<WaitingRequest | null> {
    try {
      const path = `/v1/approvals/${one.id}`;
      const { card, writable } = await this.#api.get<Pick<WaitingRequest, 'card' | 'writable'>>(path);
      return { ...one, sessionId: one.session, card, writable };
    } catch (error) {
      if (!(error instanceof ServerRefusal && error.status === 404)) this.#report(error);
      return null;
    }
  }
}

interface InboxPage {
  readonly messages: readonly InboxMessage[];
  readonly more: boolean;
  readonly unread: number;
}

interface ListedApproval extends Omit<WaitingRequest, 'sessionId' | 'card' | 'writable'> {
  readonly session: string;
  readonly answer: unknown;
}

function setIfChanged<Value>(signal: Signal<Value>, value: Value): void {
  if (JSON.stringify(value) !== JSON.stringify(signal.value)) signal.value = value;
}
