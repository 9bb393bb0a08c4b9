import { useSignal } from '@preact/signals';
import { escapeInvisible } from '../../base/text.ts';
import type { ChosenGrantLimits, OperatorActions, ValidGrant } from '../page-data.ts';

export function GrantForm({
  hasFiles,
  onGrant,
}: {
  readonly hasFiles: boolean;
  readonly onGrant: (terms: ChosenGrantLimits) => void;
}) {
  return (
    <details class="grant">
      <summary>Approve later requests too, until…</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const times = Number(form.get('times'));
          onGrant({
            minutes: Number(form.get('minutes')),
            ...(times > 0 ? { times } : {}),
            ...(form.has('files') ? { files: true } : {}),
            ...(form.has('tests') ? { testsPass: true } : {}),
          });
        }}
      >
        <label>
          time
          <select name="minutes">
            <option value="15">15 minutes</option>
            <option value="60" selected>
              an hour
            </option>
            <option value="480">8 hours</option>
          </select>
        </label>
        <label>
          number of requests
          <input name="times" type="number" min="1" max="1000" placeholder="any" />
        </label>
        {hasFiles && (
          <label class="tick">
            <input name="files" type="checkbox" /> another file is changed
          </label>
        )}
        <label class="tick">
          <input name="tests" type="checkbox" /> the tests fail
        </label>
        <button type="submit">Grant</button>
      </form>
    </details>
  );
}

const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const inLocalTime = (instant: string): string =>
  new Date(instant).toLocaleString([], { weekday: 'short', hour: '2-digit', minute: '2-digit' });

/** The grants that are valid now; each can be revoked. */
export function GrantList({
  grants,
  acts,
}: {
  readonly grants: readonly ValidGrant[];
  readonly acts: OperatorActions;
}) {
  const problem = useSignal<string | null>(null);
  if (grants.length === 0) return null;
  return (
    <section class="grants" aria-label="Grants">
      <h2>{grants.length === 1 ? '1 grant is valid' : `${grants.length} grants are valid`}</h2>
      <ul>
        {grants.map(({ id, title, limits, by, used }) => (
          <li key={id}>
            <span>
              <strong>{escapeInvisible(title)}</strong> {escapeInvisible(limits).replace(INSTANT, inLocalTime)}; used{' '}
              {used === 1 ? 'once' : `${used} times`}, given by {by}
            </span>
            <button
              type="button"
              onClick={async () => {
                problem.value = await acts.revoke(id);
              }}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
      {problem.value !== null && (
        <p class="trouble" role="alert">
          {problem.value}
        </p>
      )}
    </section>
  );
}
