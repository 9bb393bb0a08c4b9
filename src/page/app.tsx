import { useComputed } from '@preact/signals';
import { escapeInvisible } from '../base/text.ts';
import { DetailPanel } from './detail-panel.tsx';
import { Graph } from './graph.tsx';
import { Inbox } from './inbox/inbox.tsx';
import { OperatorPanel, PeripheralTools } from './operator.tsx';
import type { PageData, SessionOnPage } from './page-data.ts';
import { ROW_FILTERS, type RowFilter } from './row-filters.ts';
import { SessionRows } from './rows.tsx';
import { describeTimeSpan, ExitList, FactList, pageClock } from './side-panel.tsx';
import { describeActivity, Summary } from './summary.tsx';
import { Timeline } from './timeline.tsx';
import { useViewChoices } from './view-choices.ts';

export function App({ source }: { readonly source: PageData }) {
  const shown = useViewChoices().session;
  const sessions = source.sessions.value;
  const session =
    sessions.find(({ id }) => id === shown.value) ??
    (shown.value === null && sessions.length === 1 && (source.listed.value?.count ?? 2) < 2 ? sessions[0] : undefined);
  const trouble = source.trouble.value;
  return (
    <main class={session ? 'page one' : 'page many'}>
      <header class="top">
        {sessions.length > 1 && session && (
          <button
            type="button"
            onClick={() => {
              shown.value = null;
            }}
          >
            ← all sessions
          </button>
        )}
        <h1>{session ? `${session.folder} · ${session.store.state.value.agent}` : 'Sessions'}</h1>
        <span class="id">{session?.id ?? ''}</span>
        <span class={`badge ${source.connection.value}`}>{source.connection.value}</span>
      </header>
      {trouble !== null && (
        <p class="trouble" role="alert">
          {escapeInvisible(trouble)}
        </p>
      )}
      <Inbox source={source} />
      {session ? <SessionPage key={session.id} session={session} source={source} /> : <Overview source={source} />}
    </main>
  );
}

function SessionPage({ session, source }: { readonly session: SessionOnPage; readonly source: PageData }) {
  const { store, graph } = session;
  const { peripheral } = useViewChoices();
  const state = store.state.value;
  const isNewest = store.cursor.value === null;
  const isNow = isNewest && source.acts !== null;
  const now = isNow ? pageClock.value : (store.frames[store.at.value]?.at ?? pageClock.value);
  const waiting = isNewest ? source.waiting.value.filter(({ sessionId }) => sessionId === session.id) : [];
  const messages = isNewest ? source.messages.value.filter(({ from }) => from === `session:${session.id}`) : [];
  return (
    <>
      <Summary session={session} waiting={waiting} messages={messages} now={now} isNow={isNow} />
      <div class="columns">
        <div class="left">
          <Graph
            graph={graph}
            state={state}
            onNode={({ id }) => {
              peripheral.value = id;
            }}
          />
          <PeripheralTools session={session} acts={isNewest ? source.acts : null} />
          <ExitList state={state} now={now} />
          {isNewest && source.acts !== null && <OperatorPanel session={session} acts={source.acts} state={state} />}
          <FactList state={state} now={now} />
        </div>
        <div class="right">
          <Search codes={[...new Set(session.store.rows.value.flatMap(({ code }) => code ?? []))]} />
          <SessionRows session={session} />
          <DetailPanel session={session} source={source} />
        </div>
      </div>
      <Timeline store={store} />
    </>
  );
}

function Search({ codes }: { readonly codes: readonly string[] }) {
  const { rowText, rowFilter } = useViewChoices();
  return (
    <search class="search">
      <input
        type="search"
        value={rowText.value}
        placeholder="tool, path or denial code"
        aria-label="Search the entries"
        list="codes"
        onInput={({ currentTarget }) => {
          rowText.value = currentTarget.value;
        }}
      />
      <datalist id="codes">
        {codes.map((code) => (
          <option key={code} value={code} />
        ))}
      </datalist>
      <select
        aria-label="Kind of entries"
        value={rowFilter.value}
        onChange={({ currentTarget }) => {
          rowFilter.value = currentTarget.value as RowFilter;
        }}
      >
        {Object.entries(ROW_FILTERS).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </search>
  );
}

/** A card for each session. Sessions that wait for a person come first, then the most recently active. */
function Overview({ source }: { readonly source: PageData }) {
  const cards = useComputed(() => {
    const waits = new Set(source.waiting.value.map(({ sessionId }) => sessionId));
    for (const message of source.messages.value) if (message.waits) waits.add(message.from.slice('session:'.length));
    return source.sessions.value
      .map((session) => ({ session, waits: waits.has(session.id) || (source.acts === null && isAsking(session)) }))
      .toSorted((a, b) => Number(b.waits) - Number(a.waits) || lastAt(b.session) - lastAt(a.session));
  }).value;
  const listed = source.listed.value;
  const isLoading = source.loading.value && source.trouble.value === null;
  if (listed?.count === 0 && cards.length === 0)
    return <p class="none">No sessions yet. One appears here as soon as an agent starts.</p>;
  return (
    <>
      <ul class="wall">
        {cards.map(({ session, waits }) => (
          <li key={session.id}>
            <Card session={session} waits={waits} live={source.acts !== null} />
          </li>
        ))}
      </ul>
      {isLoading && (
        <p class="none" role="status">
          Loading the sessions…
        </p>
      )}
      {listed?.more && <p class="none">Older sessions are not shown here. "hopgate watch ID" shows one.</p>}
    </>
  );
}

const lastAt = ({ store }: SessionOnPage): number => store.frames[store.count.value - 1]?.at ?? 0;
const isAsking = ({ store }: SessionOnPage): boolean =>
  !store.newest.value.closed && store.rowAt(store.count.value - 1)?.code === 'approval-required';

interface CardProps {
  readonly session: SessionOnPage;
  readonly waits: boolean;
  readonly live: boolean;
}

function Card({ session, waits, live }: CardProps) {
  const { store, graph, folder, id } = session;
  const shown = useViewChoices().session;
  const state = store.newest.value;
  const row = store.rowAt(store.count.value - 1);
  const open = () => {
    shown.value = id;
  };
  return (
    <button type="button" class={`card ${waits ? 'waits' : ''} ${state.closed ? 'over' : ''}`} onClick={open}>
      <span class="name">
        <strong>{folder}</strong> {state.agent}
      </span>
      {waits && <span class="badge urgent">waits for you</span>}
      <Graph graph={graph} state={state} small />
      <span class="where">
        <strong>{state.closed ? 'closed' : (state.peripheral ?? 'outside')}</strong>
        {state.mode !== null && <span class={`mode ${state.reach ?? ''}`}>{state.mode}</span>}
      </span>
      <span class={`last ${row?.mark ?? ''}`}>{describeActivity(row)}</span>
      {live && <span class="ago">{describeTimeSpan(pageClock.value - lastAt(session))} ago</span>}
    </button>
  );
}
