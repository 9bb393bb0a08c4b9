import { resolve } from 'node:path';
import { escapeInvisible, excerpt, plural } from '../../../base/text.ts';
import { replayDecisions, type SessionReplay } from '../../../session/replay-decisions.ts';
import { loadProjectConfig } from '../../../spec/load/load-project-config.ts';
import { loadSpecs } from '../../../spec/load/load-specs.ts';
import { chooseSessions, noSessionsError, printNoSessions, readPinOrThrow } from '../../choose-sessions.ts';
import { resolveSpecsOption } from '../../choose-specs.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, paint, print, printJson, usageError } from '../../io.ts';
import { withEvidence } from '../../open-store.ts';
import { resolveRootOption, rootOption } from '../../shared-options.ts';
import { printTable } from '../../table.ts';
import { replayTrajectories, type TrajectoryOptions } from './replay-trajectories.ts';

interface Options extends Partial<TrajectoryOptions> {
  readonly root: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Decides every request of old sessions again under another spec set, and shows each decision that would change. Runs nothing. Exit code 1 if a decision changes: with stored sessions, CI can notice a policy change that breaks them.',
    )
    .argument('[session...]', 'the ids of the sessions, or their first characters (default: all sessions)')
    .option(
      '--specs <dir>',
      'the spec set that decides (default: the pinned one of each session; with --trajectories: the built-in one)',
    )
    .option('--config <dir>', 'the folder of the hopgate.yaml that decides (default: the one pinned by each session)')
    .option(
      '--trajectories <dir>',
      'decide the runs in this folder instead of sessions: files of SWE-agent, mini-swe-agent or ATIF',
    )
    .option('--results <file>', 'with --trajectories: a JSON file that says which runs solved their tasks')
    .addOption(rootOption())
    .examples(
      'hopgate replay --specs stricter/',
      'hopgate replay --specs stricter/ s-4f1c --json',
      'hopgate replay --trajectories runs/ --results report.json',
    )
    .action((sessions: readonly string[], options: Options) => {
      const { trajectories } = options;
      return trajectories === undefined
        ? replayAll(io, sessions, options)
        : replayTrajectories(io, { ...options, trajectories });
    });
}

async function replayAll(io: Io, ids: readonly string[], options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  if (options.specs === undefined && options.config === undefined)
    throw usageError(
      'replay needs specs or a configuration to decide with',
      'Name a spec set with --specs DIR, or the folder of a hopgate.yaml with --config DIR.',
      'no-specs',
    );
  const specs = options.specs === undefined ? null : await loadSpecs(resolveSpecsOption(io, options.specs));
  const stated = options.config === undefined ? null : await loadProjectConfig(resolve(io.cwd, options.config));
  if (stated?.found === false)
    throw usageError(`there is no hopgate.yaml in ${options.config}`, 'Name its folder with --config DIR.');
  const replayed = await withEvidence<readonly SessionReplay[]>(root, io.env, [], async (store) => {
    const all: SessionReplay[] = [];
    for (const session of await chooseSessions(store, ids)) {
      const pin = await readPinOrThrow(store, session);
      const entries = store.entries(session.sessionId);
      const other = { specs: specs ?? pin.specs, config: stated?.config ?? pin.config };
      all.push(await replayDecisions(pin, other, session.sessionId, entries, (hash) => store.getBlob(hash)));
    }
    return all;
  });
  if (replayed.length === 0 && ids.length > 0) throw noSessionsError(io, root);
  if (replayed.length === 0 && !io.json) printNoSessions(io, root);
  if (replayed.some(({ changes }) => changes.length > 0)) io.exitCode = 1;
  if (io.json) printJson(io, replayed);
  else for (const replay of replayed) show(io, replay);
}

function show(io: Io, { sessionId, decisions, changes }: SessionReplay): void {
  const word = changes.length === 0 ? paint(io, 'green', 'same') : paint(io, 'yellow', 'changed');
  print(io, `${word}  ${escapeInvisible(sessionId)}  ${plural(decisions, 'decision')}, ${changes.length} would change`);
  if (changes.length === 0) return;
  const rows = changes.map(({ seq, peripheral, request, was, now, why }) => [
    String(seq),
    peripheral ?? '-',
    excerpt(request, 60),
    was,
    now,
    excerpt(why ?? '', 100),
  ]);
  printTable(io, ['seq', 'peripheral', 'request', 'was', 'would be', 'why'], rows);
}
