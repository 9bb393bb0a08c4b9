import { signal } from '@preact/signals';
import type { UnmetHopRequirement, ViewState } from '../view/view-state.ts';

/** The present time in epoch milliseconds; updated while a live session is shown. */
export const pageClock = signal(Date.now());

/** A span of time in words: `40 s`, `3 min`, `2 h`, `5 d`. */
export function describeTimeSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 60 / 24)} d`;
}

/** Describes a missing need: `tests are stale: src/cart.js changed 40 s ago`. */
const needInWords = ({ words, stale }: UnmetHopRequirement, { changed }: ViewState, now: number): string =>
  stale && changed ? `${words}: ${changed.path} changed ${describeTimeSpan(now - changed.at)} ago` : words;

const STATUS_WORDS = {
  open: 'open',
  asks: 'needs your approval',
  yours: 'only you can open it',
  closed: 'closed',
} as const;
const STATUS_SIGNS = { open: '→', asks: '🔒', yours: '☝', closed: '✕' } as const;

interface AsideProps {
  readonly state: ViewState;
  /** The shown moment, in epoch milliseconds. */
  readonly now: number;
}

/** Lists every exit of the present peripheral: open or closed, with its missing needs. */
export function ExitList({ state, now }: AsideProps) {
  const { peripheral, ways, closed } = state;
  const title = closed ? 'The session is closed' : peripheral === null ? 'Ways in' : `Ways out of ${peripheral}`;
  return (
    <section class="ways" aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {[...Map.groupBy(ways, ({ to }) => to)].map(([to, several]) => (
          <li key={to}>
            <strong>{to}</strong>
            <ul>
              {several.map((option) => (
                <li key={option.exit ?? ''} class={`way ${option.status}`}>
                  <span class="sign" aria-hidden="true">
                    {STATUS_SIGNS[option.status]}
                  </span>
                  <span>
                    <code>{option.exit ?? 'start'}</code> <em>{STATUS_WORDS[option.status]}</em>
                    {option.status !== 'open' && option.missing.length > 0 && (
                      <small>{option.missing.map((need) => needInWords(need, state, now)).join(' · ')}</small>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows the session's hops, reviews, tests, backpack and changed files. */
export function FactList({ state, now }: AsideProps) {
  const { trail, par, tests, changed, backpack, files, tools, peripheral } = state;
  const reviews =
    par.count === 0
      ? par.due
        ? 'no review yet; there is new work to review'
        : 'no review yet'
      : `${par.count === 1 ? '1 review' : `${par.count} reviews`}, the last ${describeTimeSpan(now - (par.at ?? now))} ago${par.due ? '; new work since' : ''}`;
  const tested = tests.passed ? 'passed' : tests.failed > 0 ? 'failed' : tests.count > 0 ? 'not in full' : 'not run';
  const since =
    !tests.passed && changed ? ` since ${changed.path} changed ${describeTimeSpan(now - changed.at)} ago` : '';
  return (
    <section class="facts" aria-label="The session">
      <h2>The session</h2>
      <dl>
        <dt>Hops</dt>
        <dd>{trail.length === 0 ? 'none yet' : trail.map((visit) => visit.peripheral).join(' → ')}</dd>
        <dt>Tests</dt>
        <dd>
          {tested}
          {since}
        </dd>
        <dt>Review (PAR)</dt>
        <dd>{reviews}</dd>
        {peripheral !== null && (
          <>
            <dt>Tools now</dt>
            <dd>
              <code>{tools.join(' ') || 'none'}</code>
            </dd>
          </>
        )}
        {Object.entries(files).length > 0 && (
          <>
            <dt>Changed</dt>
            <dd>
              {Object.entries(files)
                .slice(-20)
                .map(([path, op]) => (
                  <div key={path}>
                    <code>{path}</code> {op}
                  </div>
                ))}
            </dd>
          </>
        )}
      </dl>
      <details>
        <summary>Backpack ({Object.keys(backpack).length})</summary>
        <dl>
          {Object.entries(backpack).map(([field, value]) => (
            <div key={field}>
              <dt>{field}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}
