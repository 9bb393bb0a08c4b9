import { stringify } from 'yaml';
import { type SuggestedSettings, WouldRefuseReport } from '../../../audit/infer/would-refuse.ts';
import { escapeInvisibleInLines, excerpt, plural } from '../../../base/text.ts';
import { openProject } from '../../../project/open-project.ts';
import { chooseSessions, readPinOrThrow, withExistingSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, formatHeading, type Io, paint, print, printJson } from '../../io.ts';
import { printTrustWarning } from '../../print-config-warnings.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { printTable } from '../../table.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Sums up the calls that enforcement would have refused in sessions that only observed (enforce: false, or --observe): by peripheral, tool and code of the denial, with the shortest path. Then prints the settings of hopgate.yaml that fit these calls. Sessions that enforced are left out.',
    )
    .argument('[session...]', 'the ids of the sessions, or their first characters (default: all sessions)')
    .addOption(rootOption())
    .examples('hopgate report', 'hopgate report s-4f1c --json')
    .action((sessions: readonly string[], options: RootOption) => report(io, sessions, options));
}

async function report(io: Io, ids: readonly string[], options: RootOption): Promise<void> {
  const root = resolveRootOption(io, options);
  const project = await openProject(root, io.env);
  printTrustWarning(io, project);
  const found = await withExistingSessions(io, root, async (store) => {
    const summed = new WouldRefuseReport();
    for (const session of await chooseSessions(store, ids)) {
      const pin = await readPinOrThrow(store, session);
      await summed.add(pin, session.sessionId, store.entries(session.sessionId));
    }
    return summed;
  });
  if (found.observed === 0)
    throw new CliError(
      'nothing-observed',
      'none of the sessions is observe-only',
      'Open one with --observe, or write "enforce: false" in hopgate.yaml and run "hopgate trust".',
    );
  const { observed, calls, groups } = found;
  const settings = found.settings(project.specs, project.config);
  if (io.json) return printJson(io, { sessions: observed, calls, wouldRefuse: groups, settings });
  const refused = groups.reduce((sum, group) => sum + group.calls, 0);
  print(io, `${plural(observed, 'session')} that only observed: ${plural(calls, 'call')}, ${refused} would be refused`);
  if (refused > 0) {
    const rows = groups.map(({ peripheral, tool, code, calls, remedy }) => [
      String(calls),
      peripheral,
      tool,
      code,
      excerpt(pathIn(remedy), WIDTH),
    ]);
    printTable(io, ['calls', 'peripheral', 'tool', 'denial', 'path'], rows);
  }
  printSettings(io, settings);
}

const WIDTH = 200;

/** The path that a remedy suggests, without the list of available tools before it. */
const pathIn = (remedy: string): string => remedy.split(/shortest path: /i).at(-1) ?? remedy;

function printSettings(io: Io, { scopes, hosts }: SuggestedSettings): void {
  const more = {
    ...(Object.keys(scopes).length === 0 ? {} : { scopes }),
    ...(hosts.length === 0 ? {} : { web: { allow: hosts } }),
  };
  if (Object.keys(more).length === 0) {
    print(io, `\n${paint(io, 'green', 'The present settings fit')}: every path and host is granted where its tool is.`);
    return;
  }
  print(io, formatHeading(io, '\nSettings that fit (merge them into hopgate.yaml, then run "hopgate trust")'));
  print(io, escapeInvisibleInLines(stringify(more).trimEnd()));
}
