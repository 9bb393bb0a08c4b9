import { useSignal } from '@preact/signals';
import { visible, visibleLines } from '../../base/text.ts';
import { clock, span } from '../side-panel.tsx';
import type { Letter, Source } from '../source.ts';

/** The unread messages of agents to the operator: whistles first, because their senders wait. */
export function Letters({ source }: { readonly source: Source }) {
  const letters = source.letters.value;
  if (letters.length === 0) return null;
  const ordered = letters.toSorted((a, b) => Number(b.kind === 'whistle') - Number(a.kind === 'whistle'));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="inbox letters" aria-label="Messages for you" tabIndex={0}>
      <h2>{letters.length === 1 ? '1 message for you' : `${letters.length} messages for you`}</h2>
      <ul>
        {ordered.map((letter) => (
          <li key={letter.id}>
            <LetterCard letter={letter} source={source} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One message: its source, its words as text, and the answer. */
function LetterCard({ letter, source }: { readonly letter: Letter; readonly source: Source }) {
  const problem = useSignal<string | null>(null);
  const { kind, act, from, author, text, state, sentAt } = letter;
  const session = source.sessions.value.find(({ id }) => from === `session:${id}`);
  const { acts } = source;
  const waits = kind === 'whistle';
  return (
    <article class="request letter" aria-label={`${kind} from ${author}`}>
      <h3>
        {visible(author)} <small>{session?.place ?? from}</small> <span class="state">{act}</span>{' '}
        <span class="state">{state}</span>{' '}
        <small>
          {span(clock.value - Date.parse(sentAt))} ago{waits && ', waits for your answer'}
        </small>
      </h3>
      <p class="message">{visibleLines(text)}</p>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const form = event.currentTarget;
          problem.value = (await acts?.reply(letter, String(new FormData(form).get('answer') ?? ''))) ?? null;
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
            problem.value = (await acts?.acknowledge(letter)) ?? null;
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
