import { render } from 'preact';
import { App, chosen } from './app.tsx';
import { clock } from './aside.tsx';
import { tellWaiting } from './inbox/notify.tsx';
import { liveSource } from './live.ts';
import { recordingIn } from './recorded.ts';
import type { Source } from './source.ts';
import { PAGE_STYLE } from './style.ts';

const KEYS: { readonly [key: string]: string } = { a: '.inbox .yes', m: '.letter input' };
const TITLE = document.title || 'hopgate';

/**
 * The live view of sessions as one element. With the attribute `live` it shows the sessions of the server that the page
 * comes from, else the recording in its `<script type="text/plain">`.
 *
 * @example <hopgate-view live></hopgate-view>
 */
class HopgateView extends HTMLElement {
  #stop: readonly (() => void)[] = [];

  async connectedCallback(): Promise<void> {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(PAGE_STYLE);
    root.adoptedStyleSheets = [sheet];
    const source = await this.#source();
    const timer = setInterval(() => {
      clock.value = Date.now();
    }, 1000);
    const title = tellWaiting(source, TITLE);
    render(<App source={source} />, root);
    // `a` goes to the first request that waits, where Enter approves it; `m` to the answer of the first message.
    const keys = (event: KeyboardEvent) => {
      const [target] = event.composedPath();
      const isTyping = target instanceof HTMLElement && target.matches('input:not([type=range]),select,textarea');
      const place = KEYS[event.key];
      if (!place || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      root.querySelector<HTMLElement>(place)?.focus();
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

  async #source(): Promise<Source> {
    if (this.hasAttribute('live')) return liveSource(chosen);
    return recordingIn(this.querySelector('script[type="text/plain"]')?.textContent ?? '');
  }
}

customElements.define('hopgate-view', HopgateView);
