import { signal, useSignal } from '@preact/signals';
import { escapeInvisible, escapeInvisibleInLines } from '../../base/text.ts';
import type { ApprovalCardData, ChosenGrantLimits, PageData, WaitingRequest } from '../page-data.ts';
import { describeTimeSpan, pageClock } from '../side-panel.tsx';
import { GrantForm } from './grants.tsx';

/** The refusal of the person's last answer, with the id of its request; null if the server took the answer. */
export const refusedAnswer = signal<{ readonly id: string; readonly why: string } | null>(null);
const declining = signal<string | null>(null);

/** One request: the effect of a yes, the commit, the tests, the diff, and the buttons to answer. */
export function RequestCard({ request, source }: { readonly request: WaitingRequest; readonly source: PageData }) {
  const { id, title, reason, rows, card, askedAt, expiresAt } = request;
  const session = source.sessions.value.find((one) => one.id === request.sessionId);
  const isAnswering = useSignal(false);
  const answer = async (approve: boolean, why: string, grant?: ChosenGrantLimits) => {
    // The second click of a double click is not another answer.
    if (isAnswering.value) return;
    isAnswering.value = true;
    const refused = await source.acts?.answer(request, approve, why, grant);
    isAnswering.value = false;
    refusedAnswer.value = refused ? { id, why: refused } : null;
    declining.value = null;
  };
  return (
    <article class="request" aria-label={title}>
      <h3>
        {title} <small>{session ? `${session.folder} · ${session.store.newest.value.agent}` : request.sessionId}</small>
      </h3>
      <p>
        {reason === '' ? 'no reason given' : `“${escapeInvisible(reason)}”`}{' '}
        <small>
          asked {describeTimeSpan(pageClock.value - askedAt)} ago, waits {describeTimeSpan(expiresAt - pageClock.value)}{' '}
          more
        </small>
      </p>
      <dl class="brief">
        <dt>A yes opens</dt>
        <dd>{card.opens}; once, if it is used within an hour</dd>
        {card.message !== null && (
          <>
            <dt>Commit message</dt>
            <dd class="message">{escapeInvisibleInLines(card.message)}</dd>
          </>
        )}
        {(card.tests !== null || card.files.length > 0) && <dt>Tests</dt>}
        {card.tests === null && card.files.length > 0 && (
          <dd>
            <strong class="alarm">no run is recorded</strong>
          </dd>
        )}
        {card.tests !== null && (
          <dd>
            <strong class={card.tests.verdict === 'pass' ? 'good' : 'alarm'}>{card.tests.verdict}</strong>{' '}
            {describeTimeSpan(pageClock.value - card.tests.at)} ago: {escapeInvisible(card.tests.command)}
          </dd>
        )}
      </dl>
      <Diff card={card} writable={request.writable} />
      <details>
        <summary>Everything that the yes is bound to</summary>
        <dl>
          {rows.map(([name, text]) => (
            <div key={name}>
              <dt>{escapeInvisible(name)}</dt>
              <dd>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
                <pre tabIndex={0}>{escapeInvisibleInLines(text)}</pre>
              </dd>
            </div>
          ))}
        </dl>
      </details>
      {declining.value === id ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            answer(false, String(new FormData(event.currentTarget).get('reason') ?? ''));
          }}
        >
          <label>
            Reason, which the agent reads
            <input name="reason" maxLength={500} autoComplete="off" ref={(element) => element?.focus()} />
          </label>
          <button type="submit">Decline</button>
        </form>
      ) : (
        <p class="acts">
          <button type="button" class="yes" data-approve={id} onClick={() => answer(true, '')}>
            Approve once
          </button>
          <button
            type="button"
            onClick={() => {
              declining.value = id;
            }}
          >
            Decline…
          </button>
        </p>
      )}
      <GrantForm hasFiles={card.changed.length > 0} onGrant={(terms) => answer(true, '', terms)} />
      {refusedAnswer.value?.id === id && <RefusedAnswer />}
    </article>
  );
}

export const RefusedAnswer = () => (
  <p class="trouble" role="alert">
    {escapeInvisible(refusedAnswer.value?.why ?? '')}
  </p>
);

/** The diff by file. A line separates the files that no peripheral may write. */
function Diff({ card, writable }: { readonly card: ApprovalCardData; readonly writable: readonly string[] }) {
  const { files, staysBehind } = card;
  const border = files.findIndex(({ inside }) => !inside);
  if (files.length === 0 && staysBehind.length === 0) return null;
  const inside = border < 0 ? files.length : border;
  return (
    <div class="changes">
      <h4>
        {files.length === 0
          ? 'No file is shipped'
          : `${inside} of ${files.length} changed files are inside of the scope`}
      </h4>
      {files.map(({ path, lines }, index) => (
        <>
          {index === border && (
            <p class="border" key="border">
              Outside of the scope: no peripheral of this session may write these
            </p>
          )}
          <details key={path} open={files.length <= 3 && lines.length <= 40} class={index < inside ? 'in' : 'out'}>
            <summary>
              {escapeInvisible(path)} <small>{countOf(lines)}</small>
            </summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
            <pre class="diff" tabIndex={0}>
              {lines.map(diffLine)}
            </pre>
          </details>
        </>
      ))}
      {staysBehind.length > 0 && (
        <p class="behind">Tested, but not shipped: {escapeInvisible(staysBehind.join(' '))}</p>
      )}
      {writable.length > 0 && <p class="behind">The agent may write: {escapeInvisible(writable.join(' '))}</p>}
    </div>
  );
}

const ADDED = /^\+(?!\+\+ )/;
const REMOVED = /^-(?!-- )/;

const countOf = (lines: readonly string[]): string =>
  `+${lines.filter((line) => ADDED.test(line)).length} −${lines.filter((line) => REMOVED.test(line)).length}`;

function diffLine(line: string, index: number) {
  const Kind = ADDED.test(line) ? 'ins' : REMOVED.test(line) ? 'del' : 'span';
  return (
    // Lines have no identity but their position.
    <Kind key={`${index}`}>{escapeInvisibleInLines(line)}</Kind>
  );
}
