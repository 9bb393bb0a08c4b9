import { useSignal } from '@preact/signals';
import { nameMessageSource } from '../../base/attribute-text.ts';
import { escapeInvisible, escapeInvisibleInLines } from '../../base/text.ts';
import type { InboxMessage, PageData } from '../page-data.ts';
import { describeTimeSpan, pageClock } from '../side-panel.tsx';

/** The unread messages of agents to the operator; those whose senders wait come first. */
export function Messages({ source }: { readonly source: PageData }) {
  const messages = source.messages.value;
  if (messages.length === 0) return null;
  const count = Math.max(messages.length, source.unread.value);
  const ordered = messages.toSorted((a, b) => Number(b.waits) - Number(a.waits));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
    <section class="inbox messages" aria-label="Messages for you" tabIndex={0}>
      <h2>
        {count === 1 ? '1 message for you' : `${count} messages for you`}
        {count > messages.length && `; ${messages.length} shown`}
      </h2>
      <ul>
        {ordered.map((message) => (
          <li key={message.id}>
            <MessageCard message={message} source={source} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One message: its source, its words as text, and the answer. */
function MessageCard({ message, source }: { readonly message: InboxMessage; readonly source: PageData }) {
  const problem = useSignal<string | null>(null);
  const { kind, act, from, author, text, state, sentAt, waits } = message;
  const session = source.sessions.value.find(({ id }) => from === `session:${id}`);
  const { acts } = source;
  const name = nameMessageSource(from, author);
  return (
    <article class="request inbox-message" aria-label={`${kind} from ${name}`}>
      <h3>
        {escapeInvisible(name)} <small>{session?.folder ?? from}</small> <span class="state">{act}</span>{' '}
        <span class="state">{state}</span>{' '}
        <small>
          {describeTimeSpan(pageClock.value - Date.parse(sentAt))} ago
          {waits && ', waits for your answer'}
          {kind === 'whistle' && !waits && ', no longer waits; your answer will arrive as a message'}
        </small>
      </h3>
      <p class="message">{escapeInvisibleInLines(text)}</p>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const form = event.currentTarget;
          problem.value = (await acts?.reply(message, String(new FormData(form).get('answer') ?? ''))) ?? null;
          if (problem.value === null) form.reset();
        }}
      >
        <label>
          Answer
          <input name="answer" required maxLength={16_000} autoComplete="off" />
        </label>
        <button type="submit">Send the answer</button>
        <button
          type="button"
          onClick={async () => {
            problem.value = (await acts?.acknowledge(message)) ?? null;
          }}
        >
          Mark as read
        </button>
      </form>
      {problem.value !== null && (
        <p class="trouble" role="alert">
          {problem.value}
        </p>
      )}
    </article>
  );
}
