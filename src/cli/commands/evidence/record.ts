import { basename, resolve } from 'node:path';
import { writeNamedFile } from '../../../base/files.ts';
import { plural } from '../../../base/text.ts';
import { readLiveViewScript } from '../../../view/page-script.ts';
import { recordSessions, renderRecordingPage, type SessionToRecord } from '../../../view/recording.ts';
import { chooseSessions, noSessionsError, readPinOrThrow, withExistingSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, printResult } from '../../io.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';

interface Options extends RootOption {
  readonly out: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Writes a page that replays sessions: the graph, the rows, what was open and what was missing at each entry. It is one file without connections, for any browser.',
    )
    .argument('[sessions...]', 'the ids of the sessions, or their first characters (default: all of this repository)')
    .requiredOption('--out <file>', 'write to this file')
    .addOption(rootOption())
    .examples('hopgate record s-4f1c --out demo.html', 'hopgate record --out all.html')
    .action((sessions: readonly string[], options: Options) => record(io, sessions, options));
}

async function record(io: Io, ids: readonly string[], options: Options): Promise<void> {
  const { file, sessions, entries, bytes } = await writeRecording(io, resolveRootOption(io, options), ids, options.out);
  const counts = `${plural(sessions.length, 'session')} with ${plural(entries, 'entry', 'entries')}`;
  const text = `${counts} recorded: ${options.out} (${Math.ceil(bytes / 1024)} kB)`;
  printResult(io, { file, sessions, entries, bytes }, text);
}

/**
 * Writes the recording of sessions of a repository to a file, whose absolute path it returns.
 * @throws CliError `page-not-built`, `no-pin`, `no-sessions`
 */
export async function writeRecording(io: Io, root: string, ids: readonly string[], out: string) {
  const script = readLiveViewScript();
  if (script === null)
    throw new CliError('page-not-built', 'this checkout has no built page', 'Run "npm run build", then try again.');
  const recording = await withExistingSessions(io, root, async (store) => {
    const chosen: SessionToRecord[] = [];
    for (const session of await chooseSessions(store, ids)) {
      const pin = await readPinOrThrow(store, session);
      const id = session.sessionId;
      chosen.push({ id, folder: basename(root), pin, entries: store.entries(id) });
    }
    return recordSessions(chosen);
  });
  if (recording.sessions.length === 0) throw noSessionsError(io, root);
  const file = resolve(io.cwd, out);
  const page = renderRecordingPage(recording, script);
  writeNamedFile(file, page);
  const sessions = recording.sessions.map(({ id }) => id);
  const entries = recording.sessions.reduce((sum, { frames }) => sum + frames.length, 0);
  return { file, sessions, entries, bytes: Buffer.byteLength(page) };
}
