import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { escapeInvisible } from '../base/text.ts';
import type { ViewState } from '../view/view-state.ts';
import type { OperatorActions, SessionOnPage } from './page-data.ts';
import { useViewChoices } from './view-choices.ts';

/** The tools of a peripheral. Pointing at a tool shows whether the gate would allow a call now. */
export function PeripheralTools({
  session,
  acts,
}: {
  readonly session: SessionOnPage;
  readonly acts: OperatorActions | null;
}) {
  const { peripheral } = useViewChoices();
  const node = session.graph.nodes.find(({ id }) => id === peripheral.value);
  const checked = useSignal<{ readonly tool: string; readonly answer: string } | null>(null);
  const { at } = session.store;
  // An answer is valid only for one state of the session.
  useEffect(() => {
    checked.value = null;
  }, [node, checked, at.value]);
  if (!node) return null;
  const { tools } = session.store.state.value;
  const ask = async (tool: string) => {
    if (!acts) return;
    const why = await acts.why(session.id, tool).catch((error: Error) => error.message);
    checked.value = { tool, answer: why ?? 'would be allowed now' };
  };
  return (
    <section class="tools" aria-label={`Tools of ${node.id}`}>
      <h2>
        {node.id}: {node.purpose}
      </h2>
      <p>
        {node.tools.map((tool) => (
          <button
            key={tool}
            type="button"
            class={tools.includes(tool) ? 'tool now' : 'tool'}
            onMouseEnter={() => ask(tool)}
            onFocus={() => ask(tool)}
            onClick={() => ask(tool)}
          >
            {tool}
          </button>
        ))}
        {node.tools.length === 0 && 'no tools'}
      </p>
      <p aria-live="polite">
        {checked.value
          ? `${checked.value.tool}: ${checked.value.answer}`
          : acts
            ? 'Point at a tool to ask the gate.'
            : 'The tools in green can be used at this moment.'}
      </p>
    </section>
  );
}

/** The operator's actions on a session: note, messages, hop, mode reset, stop. The typed text is their reason. */
export function OperatorPanel({
  session,
  acts,
  state,
}: {
  readonly session: SessionOnPage;
  readonly acts: OperatorActions;
  readonly state: ViewState;
}) {
  const reason = useSignal('');
  const answer = useSignal<string | null>(null);
  if (state.closed) return null;
  const reasonText = () => reason.value.trim() || 'the operator asked in the live view';
  const act = async (done: string, acting: Promise<string | null>) => {
    const refused = await acting;
    answer.value = refused === null ? done : `refused: ${refused}`;
    if (refused === null) reason.value = '';
  };
  const whistle = async () => {
    const asking = acts.whistle(session.id, reasonText());
    answer.value = 'sent; waits for the answer…';
    reason.value = '';
    answer.value = await asking.catch((error: Error) => error.message);
  };
  const reset = state.modes.find(({ needs }) => needs.some((need) => need.includes('reset')));
  return (
    <details class="operator">
      <summary>Act as the operator</summary>
      <label>
        Reason, note or message
        <input
          value={reason.value}
          maxLength={500}
          onInput={({ currentTarget }) => {
            reason.value = currentTarget.value;
          }}
        />
      </label>
      <p class="acts">
        {reason.value.trim() !== '' && (
          <>
            <button
              type="button"
              onClick={() => act('written; the agent reads it with its next call', acts.note(session.id, reasonText()))}
            >
              Send the note
            </button>
            <button
              type="button"
              onClick={() => act('sent; its row shows when the agent has read it', acts.ring(session.id, reasonText()))}
            >
              Ring
            </button>
            <button type="button" onClick={whistle}>
              Whistle, and wait for the answer
            </button>
          </>
        )}
        {state.ways.map(({ to, exit }) => (
          <button
            key={`${to} ${exit}`}
            type="button"
            onClick={() => act(`hopped to ${to}`, acts.hop(session.id, to, exit, reasonText()))}
          >
            {exit === null ? `Start ${to}` : `Hop to ${to} (${exit})`}
          </button>
        ))}
        {reset && (
          <button type="button" onClick={() => act(`mode ${reset.to}`, acts.mode(session.id, reset.to, reasonText()))}>
            Reset mode to {reset.to}
          </button>
        )}
        {state.peripheral !== null && (
          <button type="button" onClick={() => act('stopped', acts.stop(session.id, reasonText()))}>
            Stop the visit
          </button>
        )}
      </p>
      <p aria-live="polite">{answer.value !== null && escapeInvisible(answer.value)}</p>
    </details>
  );
}
