import { render } from 'preact';
import { App } from './app.tsx';
import { notifyOfWaitingItems } from './inbox/notify.tsx';
import { makeLiveSource } from './live-source.ts';
import type { PageData } from './page-data.ts';
import { PAGE_STYLE } from './page-style.ts';
import { readRecording } from './read-recording.ts';
import { pageClock } from './side-panel.tsx';
import { newViewChoices, ViewChoicesContext } from './view-choices.ts';

const KEYS: { readonly [key: string]: string } = { a: '.inbox .yes', m: '.inbox-message input' };
const TITLE = document.title || 'hopgate';

/**
 * The live view of sessions as one element. With the attribute `live` it shows the sessions of the server that the page
 * comes from. With `src` it shows the recording at this URL, a file of `hopgate record`. Without both it shows the
 * recording in its `<script type="text/plain">`.
 *
 * @example <hopgate-view src="demo.html" style="height: 600px"></hopgate-view>
 */
class HopgateView extends HTMLElement {
  readonly #choices = newViewChoices();
  #stop: readonly (() => void)[] = [];

  async connectedCallback(): Promise<void> {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(PAGE_STYLE);
    root.adoptedStyleSheets = [sheet];
    const source = await this.#source().catch((error: unknown) => {
      render(<p role="alert">hopgate-view: {error instanceof Error ? error.message : String(error)}</p>, root);
    });
    if (!source) return;
    const timer = setInterval(() => {
      pageClock.value = Date.now();
    }, 1000);
    const title = this.hasAttribute('live') ? notifyOfWaitingItems(source, TITLE) : () => {};
    render(
      <ViewChoicesContext.Provider value={this.#choices}>
        <App source={source} />
      </ViewChoicesContext.Provider>,
      root,
    );
    // `a` goes to the first request that waits, where Enter approves it; `m` to the answer of the first message.
    const keys = (event: KeyboardEvent) => {
      const [target] = event.composedPath();
      const isTyping =
        target instanceof HTMLElement &&
        (target.isContentEditable || target.matches('input:not([type=range]),select,textarea'));
      const shortcut = KEYS[event.key] && root.querySelector<HTMLElement>(KEYS[event.key]!);
      if (!shortcut || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      shortcut.focus();
    };
    document.addEventListener('keydown', keys);
    this.#stop = [
      () => clearInterval(timer),
      title,
      () => document.removeEventListener('keydown', keys),
      () => render(null, root),
    ];
  }

  disconnectedCallback(): void {
    for (const stop of this.#stop) stop();
  }

  async #source(): Promise<PageData> {
    if (this.hasAttribute('live')) return makeLiveSource(this.#choices.session);
    const url = this.getAttribute('src');
    if (url === null) return readRecording(this.querySelector('script[type="text/plain"]')?.textContent);
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
    return readRecording(/<script type="text\/plain">([^<]*)/.exec(await response.text())?.[1]);
  }
}

customElements.define('hopgate-view', HopgateView);
