import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeInvisible } from '../../../base/text.ts';
import { valueOr } from '../../../base/value-or.ts';
import { daemonFolder } from '../../../daemon/daemon-folder.ts';
import { commandEntryFile } from '../../../daemon/package-files.ts';
import type { CliCommand } from '../../cli-command.ts';
import { askDaemonStatus, stopDaemon } from '../../daemon-status.ts';
import { type Io, print, printJson, printRemark } from '../../io.ts';
import { onTerminationSignal } from '../../on-signal.ts';
import { checkTelemetryOption, telemetryOption, wholeNumberParser } from '../../shared-options.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'One process for each user answers the hooks of client programs and runs their sessions. It starts when the first hook needs it and ends when it is idle. HOPGATE_DAEMON=off works without it.',
    )
    .examples('hopgate daemon status', 'hopgate daemon start', 'hopgate daemon stop');
  command
    .command('start')
    .summary('run the daemon in the foreground')
    .description('Runs the daemon in the foreground. Writes the programs that clients run for their hooks again.')
    .option('--idle-minutes <n>', 'end after this many minutes without a request', wholeNumberParser(525_600, 1), 15)
    .addOption(telemetryOption())
    .action((options: { readonly idleMinutes: number; readonly telemetry?: boolean | 'contents' }) =>
      start(io, options.idleMinutes, options.telemetry),
    );
  command
    .command('status')
    .summary('show whether the daemon runs, and its sessions')
    .action(() => status(io));
  command
    .command('stop')
    .summary('end the daemon after its running calls')
    .action(() => stop(io));
}

async function start(io: Io, idleMinutes: number, spans: boolean | 'contents' | undefined): Promise<void> {
  const telemetry = await checkTelemetryOption(spans);
  const { serveDaemon } = await import('../../../daemon/serve-daemon.ts');
  const daemon = await serveDaemon({ env: io.env, telemetry, idleMinutes, waitMs: 0 });
  if (!daemon) {
    const found = await askDaemonStatus(io);
    printRemark(io, (found && otherInstallation(found.entry)) ?? 'a daemon is running already');
    io.exitCode = 1;
    return;
  }
  printRemark(io, `listens on ${daemon.socket}`);
  onTerminationSignal(() => void daemon.stop());
  await daemon.ended;
}

async function status(io: Io): Promise<void> {
  const found = await askDaemonStatus(io);
  if (io.json) return printJson(io, found ?? { running: false });
  if (!found) {
    print(io, 'No daemon is running. It starts with the first hook; "hopgate daemon start" starts one here.');
    for (const line of logTail(io, 5)) print(io, `  ${escapeInvisible(line)}`);
    return;
  }
  print(io, `Runs as process ${found.pid} since ${found.startedAt}, on ${found.socket}.`);
  const other = otherInstallation(found.entry);
  if (other !== null) print(io, other);
  print(io, `Hooks use the ${found.client} client.`);
  if (found.httpAddress !== null) print(io, `It serves HTTP at ${found.httpAddress}.`);
  if (found.sessions.length === 0) print(io, 'No session is open in it.');
  for (const { id, root, busy } of found.sessions)
    print(
      io,
      `${escapeInvisible(id)}  ${escapeInvisible(root)}${busy === null ? '' : `  at work: ${escapeInvisible(busy)}`}`,
    );
}

async function stop(io: Io): Promise<void> {
  print(io, (await stopDaemon(io)) ? 'It finishes its running calls, then ends.' : 'No daemon is running.');
}

/** A warning if the daemon, by its entry file, belongs to another installation; null if it belongs to this one. */
function otherInstallation(entry: string): string | null {
  if (entry === commandEntryFile()) return null;
  return `The running daemon belongs to another installation of hopgate: ${escapeInvisible(entry)}. End it with "hopgate daemon stop"; the next call then starts the daemon of its own installation.`;
}

const logTail = ({ env }: Io, lines: number): readonly string[] =>
  valueOr(
    () =>
      readFileSync(join(daemonFolder(env), 'log'), 'utf8')
        .trimEnd()
        .split('\n')
        .slice(-lines),
    [],
  );
