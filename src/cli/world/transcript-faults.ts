import type { DemandId } from '../../audit/inhabitation/inhabitation-demands.ts';
import type { Transcript, TranscriptItem } from '../../evidence/transcript.ts';
import type { PlayedStory } from './run-story.ts';

/** A change of a played story's transcript that breaks one of the demands P-1 to P-6. */
interface TranscriptFault {
  readonly breaks: DemandId;
  readonly what: string;
  readonly change: (played: PlayedStory) => Pick<PlayedStory, 'transcript' | 'entries'>;
}

/** Renumbers the items, so that only the intended fault remains. */
const renumberItems = (items: readonly TranscriptItem[]): Transcript => ({
  items: items.map((item, n) => ({ ...item, n })),
  problems: [],
});

export const TRANSCRIPT_FAULTS: readonly TranscriptFault[] = [
  {
    breaks: 'P-1',
    what: 'the agent acted by a tool of its own program',
    change: ({ transcript: { items }, entries }) => {
      const at = items.findIndex(({ kind }) => kind === 'call');
      const more = { kind: 'call', callId: 'outside', tool: 'Bash', input: {}, outside: true } as const;
      const call: TranscriptItem = { ...items[at]!, ...more };
      return { transcript: renumberItems([...items.slice(0, at), call, ...items.slice(at)]), entries };
    },
  },
  {
    breaks: 'P-2',
    what: "no text named the agent's peripheral",
    change: ({ transcript: { items }, entries }) => ({
      transcript: renumberItems(
        items
          .filter(({ kind }) => kind !== 'delivered')
          .map((item) => (item.kind === 'result' ? { ...item, situation: null, text: '' } : item)),
      ),
      entries,
    }),
  },
  {
    breaks: 'P-3',
    what: 'a script acted, and the agent never called',
    change: ({ transcript: { items }, entries }) => {
      const call = items.find((item) => item.kind === 'call' && item.tool === 'alfworld-action') as
        | Extract<TranscriptItem, { kind: 'call' }>
        | undefined;
      const isOf = (item: TranscriptItem) => 'callId' in item && item.callId === call?.callId;
      return { transcript: renumberItems(items.filter((item) => !isOf(item))), entries };
    },
  },
  {
    breaks: 'P-4',
    what: 'the script ended inside, without a hop',
    change: ({ transcript: { items }, entries }) => {
      const last = items.findLastIndex((item) => item.kind === 'call' && item.tool === 'alfworld-action');
      const start = entries.findLastIndex(
        ({ body }) => (body as { readonly tool?: unknown } | null)?.tool === 'alfworld-action',
      );
      return { transcript: renumberItems(items.slice(0, last + 2)), entries: entries.slice(0, start + 2) };
    },
  },
  {
    breaks: 'P-5',
    what: 'the agent wrote only "ok", which names nothing of its situation',
    change: ({ transcript: { items }, entries }) => ({
      transcript: renumberItems(
        items.map((item) => {
          if (item.kind === 'said') return { ...item, text: 'ok' };
          if (item.kind !== 'call' || item.tool !== 'hop') return item;
          return { ...item, input: { ...(item.input as object), reason: 'ok' } };
        }),
      ),
      entries,
    }),
  },
  {
    breaks: 'P-6',
    what: 'a bell came without its sender',
    change: ({ transcript: { items }, entries }) => ({
      transcript: renumberItems(items.map((item) => (item.kind === 'heard' ? { ...item, source: '' } : item))),
      entries,
    }),
  },
];
