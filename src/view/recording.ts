import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { excerpt } from '../base/text.ts';
import type { StoredEntry } from '../evidence/entry.ts';
import type { SessionPin } from '../session/pin.ts';
import { entryDetailOf } from './entry-detail.ts';
import { SessionFrames } from './session-frames.ts';
import { layOutViewGraph } from './view-graph.ts';
import type { EntryDetail, Recording, ViewFrame, ViewGraph } from './view-state.ts';

export interface SessionToRecord {
  readonly id: string;
  readonly folder: string;
  readonly pin: SessionPin;
  readonly entries: AsyncIterable<StoredEntry> | Iterable<StoredEntry>;
}

export async function recordSessions(sessions: Iterable<SessionToRecord>): Promise<Recording> {
  const graphs: ViewGraph[] = [];
  const byHash = new Map<string, number>();
  const recorded: Recording['sessions'][number][] = [];
  for (const { id, folder, pin, entries } of sessions) {
    const graph = byHash.get(pin.specs.hash) ?? graphs.push(await layOutViewGraph(pin.specs)) - 1;
    byHash.set(pin.specs.hash, graph);
    const view = new SessionFrames(pin, id);
    const frames: ViewFrame[] = [];
    const details: { [seq: number]: EntryDetail } = {};
    for await (const stored of entries) {
      frames.push(view.add(stored));
      details[stored.entry.seq] = entryDetailOf(stored.entry);
    }
    recorded.push({ id, folder: excerpt(folder, 80), graph, frames, details });
  }
  return { graphs, sessions: recorded };
}

const STYLE = 'body{margin:0}';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * One self-contained HTML file that replays the recording. Its policy allows this script alone, and no connection.
 * @param script the text of the page's bundle
 */
export function renderRecordingPage(recording: Recording, script: string): string {
  // The text of a script element must not contain its end tag.
  const code = script.replaceAll(/<(?=\/script|!--)/gi, '\\x3c');
  const data = deflateRawSync(JSON.stringify(recording)).toString('base64');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hashOf(code)}; style-src ${hashOf(STYLE)}">
<title>hopgate recording</title>
<style>${STYLE}</style>
</head>
<body>
<hopgate-view><script type="text/plain">${data}</script></hopgate-view>
<script type="module">${code}</script>
</body>
</html>
`;
}
