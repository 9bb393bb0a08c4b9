import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { escapeInvisibleInLines } from '../base/text.ts';
import type { EntryDetail } from '../view/view-state.ts';
import type { PageData, SessionOnPage } from './page-data.ts';

const MAX_CHARS = 4000;

/** Everything about the row at the cursor: the whole refusal, the change as a diff, the entries. */
export function DetailPanel({ session, source }: { readonly session: SessionOnPage; readonly source: PageData }) {
  const { store } = session;
  const row = store.rowAt(store.at.value);
  const read = useSignal<readonly EntryDetail[]>([]);
  const wantedSeqs = row?.seqs.join() ?? '';
  useEffect(() => {
    let current = true;
    const seqs = wantedSeqs === '' ? [] : wantedSeqs.split(',').map(Number);
    source.detail(session.id, seqs).then(
      (found) => {
        if (current) read.value = found;
      },
      () => {},
    );
    return () => {
      current = false;
    };
  }, [wantedSeqs, session.id, source, read]);
  if (!row) return null;
  // While the server does not answer, the details of the previously chosen row must not be shown for this row.
  const details = read.value.filter(({ seq }) => row.seqs.includes(seq));
  return (
    <section class="detail" aria-label="The chosen entry">
      <h2>
        <span class={`mark ${row.mark ?? ''}`}>{row.action}</span>
      </h2>
      {row.result !== undefined && <p class="result">{row.result}</p>}
      {row.wouldRefuse !== undefined && <p class="alarm">would be refused: {row.wouldRefuse}</p>}
      {row.remedy !== undefined && <p class="remedy">→ {row.remedy}</p>}
      {row.notes?.map((note) => (
        <p class="note" key={note}>
          {note}
        </p>
      ))}
      {details.map((detail) => (
        <Diff key={detail.seq} body={detail.body} />
      ))}
      <details>
        <summary>{details.length === 1 ? 'The entry as recorded' : 'The entries as recorded'}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
        <pre tabIndex={0}>
          {details.map(({ seq, at, author, body }) => `#${seq}  ${at}  ${author}\n${body}`).join('\n\n')}
        </pre>
      </details>
    </section>
  );
}

/** The change that a call requests: an edit's old and new text, or the content of a write. */
function Diff({ body }: { readonly body: string }) {
  const args = argsOf(body);
  if (args === null) return null;
  const { old, new: next, content } = args;
  const removed = typeof old === 'string' ? linesOf(old) : [];
  const added = linesOf(typeof next === 'string' ? next : typeof content === 'string' ? content : '');
  if (removed.length + added.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
    <pre class="diff" tabIndex={0}>
      {removed.map((line, index) => (
        <del key={`-${index}`}>- {line}</del>
      ))}
      {added.map((line, index) => (
        <ins key={`+${index}`}>+ {line}</ins>
      ))}
    </pre>
  );
}

const linesOf = (text: string): readonly string[] =>
  text === '' ? [] : escapeInvisibleInLines(text.slice(0, MAX_CHARS)).split('\n');

function argsOf(body: string): { readonly [name: string]: unknown } | null {
  try {
    const { args } = JSON.parse(body) as { readonly args?: unknown };
    return typeof args === 'object' && args !== null ? (args as { [name: string]: unknown }) : null;
  } catch {
    return null; // The body was shortened, so it is not JSON.
  }
}
