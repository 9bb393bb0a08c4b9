import { signal } from '@preact/signals';
import type { Recording } from '../view/view-state.ts';
import type { InboxMessage, PageData, SessionOnPage, ValidGrant, WaitingRequest } from './page-data.ts';
import { SessionStore } from './session-store.ts';

/** Reads a recording: base64 of deflated JSON. @throws Error without one */
export async function readRecording(text: string | null | undefined): Promise<PageData> {
  if (!text) throw new Error('there is no recording; make one with "hopgate record"');
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return sourceOf((await new Response(inflated).json()) as Recording);
}

function sourceOf({ graphs, sessions }: Recording): PageData {
  const details = new Map(sessions.map(({ id, details: of }) => [id, of]));
  return {
    sessions: signal(
      sessions.map(({ id, folder, graph, frames }): SessionOnPage => {
        const store = new SessionStore();
        store.add(frames);
        return { id, folder, graph: graphs[graph]!, store };
      }),
    ),
    waiting: signal<readonly WaitingRequest[]>([]),
    grants: signal<readonly ValidGrant[]>([]),
    messages: signal<readonly InboxMessage[]>([]),
    unread: signal(0),
    connection: signal('recording'),
    listed: signal({ count: sessions.length, more: false }),
    loading: signal(false),
    trouble: signal(null),
    acts: null,
    detail: async (session, seqs) => seqs.flatMap((seq) => details.get(session)?.[seq] ?? []),
  };
}
