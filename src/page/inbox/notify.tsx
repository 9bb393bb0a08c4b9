import { effect, signal } from '@preact/signals';
import { nameMessageSource } from '../../base/attribute-text.ts';
import { escapeInvisible } from '../../base/text.ts';
import type { PageData } from '../page-data.ts';

const permission = signal(typeof Notification === 'undefined' ? 'denied' : Notification.permission);

/** A button that asks the browser for permission to notify. Nothing is shown if the person has decided before. */
export function NotifyButton() {
  if (permission.value !== 'default') return null;
  return (
    <button
      type="button"
      onClick={async () => {
        permission.value = await Notification.requestPermission();
      }}
    >
      Notify me
    </button>
  );
}

/**
 * Shows the number of waiting items in the title of the page. A new request or message also causes a notification, if
 * the person allowed that and does not see the page. Returns a function that ends both.
 */
export function notifyOfWaitingItems(source: PageData, title: string): () => void {
  let known: ReadonlySet<string> = new Set();
  return effect(() => {
    const messages = source.messages.value.map(({ id, from, author, text }) => ({
      id,
      title: nameMessageSource(from, author),
      reason: text,
    }));
    const waiting = [...source.waiting.value, ...messages];
    document.title = waiting.length > 0 ? `(${waiting.length}) ${title}` : title;
    const added = waiting.filter(({ id }) => !known.has(id));
    known = new Set(waiting.map(({ id }) => id));
    if (permission.peek() !== 'granted' || !document.hidden) return;
    for (const { id, title, reason } of added) {
      const shown = new Notification(escapeInvisible(title), { body: escapeInvisible(reason.slice(0, 300)), tag: id });
      shown.onclick = () => window.focus();
    }
  });
}
