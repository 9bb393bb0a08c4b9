import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Option } from 'commander';
import { tokenFolder } from '../../../server/access/tokens.ts';
import { agencyFolderOf, agencyOption } from '../../agency/use-node.ts';
import { findAllPendingRequests } from '../../approve/find-pending.ts';
import { notifyOfNewRequests } from '../../approve/notify-operator.ts';
import type { CliCommand } from '../../cli-command.ts';
import { askDaemonStatus, stopDaemon } from '../../daemon-status.ts';
import { CliError, type Io, print, printJson, printRemark, usageError } from '../../io.ts';
import { onTerminationSignal } from '../../on-signal.ts';
import {
  checkTelemetryOption,
  parseHostAndPortOption,
  telemetryOption,
  wholeNumberParser,
} from '../../shared-options.ts';

export const DEFAULT_HTTP_PORT = 4780;
/** Time that a daemon without an HTTP server gets to end its calls before this server replaces it, in milliseconds. */
const HAND_OVER_MS = 30_000;

interface Options {
  readonly port: number;
  readonly socket?: string;
  readonly open?: boolean;
  readonly exec?: string;
  readonly telemetry?: boolean | 'contents';
  readonly agency?: string;
  readonly agencyListen?: { readonly host: string; readonly port: number };
  /** The session that the live view opens with. */
  readonly session?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Serves the sessions of all your repositories over HTTP on this machine: for programs in any language, and for the live view. It is the daemon with an HTTP server, so hooks and MCP servers use the same process. Each role has a token in a file that only you can read. Ctrl-C ends it.',
    )
    .option('--port <n>', 'the port of 127.0.0.1; 0 takes a free one', wholeNumberParser(65_535), DEFAULT_HTTP_PORT)
    .addOption(new Option('--socket <file>', 'listen on a unix socket instead').conflicts('port'))
    .option(
      '--exec <command>',
      'run this command for each new request; its HOPGATE_REQUEST_… variables contain the request',
    )
    .addOption(telemetryOption())
    .addOption(agencyOption())
    .option(
      '--agency-listen <host:port>',
      'serve the agency, and nothing else, to other machines; they need a token of "hopgate agency token"',
      parseHostAndPortOption,
    )
    .option('--open', 'open the live view in the browser, logged in as the operator')
    .examples(
      'hopgate serve',
      'hopgate serve --open',
      'hopgate serve --socket ~/.hopgate.sock',
      'hopgate serve --port 0 --json',
      'hopgate serve --exec \'notify-send "$HOPGATE_REQUEST_TITLE"\'',
    )
    .action((options: Options) => serveHttpUntilSignal(io, options));
}

/** Serves until Ctrl-C. With `open`, a running server is used and is not ended. */
export async function serveHttpUntilSignal(io: Io, options: Options): Promise<void> {
  const running = await findHttpAddress(io);
  if (running !== null) {
    if (!options.open)
      throw new CliError(
        'already-served',
        `hopgate serves at ${running} already`,
        'Use that server, or end it with "hopgate daemon stop".',
      );
    if (!running.startsWith('http:'))
      throw usageError(
        `hopgate serves at ${running}, and a browser cannot open a unix socket`,
        'End it with "hopgate daemon stop", then run this again.',
      );
    return openBrowser(io, running, await askCode(io, running), options.session);
  }
  const [{ serveDaemon }, { openHttpServer }, { ROLES_WITH_TOKEN_FILE, roleTokenFile }] = await Promise.all([
    import('../../../daemon/serve-daemon.ts'),
    import('../../../server/http-server.ts'),
    import('../../../server/access/tokens.ts'),
  ]);
  const agencyFolder = agencyFolderOf(io, options);
  const telemetry = await checkTelemetryOption(options.telemetry);
  const listen = options.socket === undefined ? { port: options.port } : { socket: resolve(io.cwd, options.socket) };
  let issueCode = (): string => '';
  let agencyAddress: string | null = null;
  const deadline = Date.now() + HAND_OVER_MS;
  for (;;) {
    await stopDaemon(io);
    const daemon = await serveDaemon({
      env: io.env,
      telemetry,
      openHttp: async (host, log) => {
        const { agencyListen } = options;
        const http = await openHttpServer(host, {
          env: io.env,
          listen,
          log,
          agencyFolder,
          agencyListen,
        }).catch((error: unknown) => cannotListen(error, options));
        issueCode = () => http.issueCode();
        agencyAddress = http.agencyAddress;
        return http;
      },
    });
    if (daemon) {
      onTerminationSignal(() => void daemon.stop());
      const address = daemon.httpAddress!;
      const tokens = Object.fromEntries(ROLES_WITH_TOKEN_FILE.map((role) => [role, roleTokenFile(io.env, role)]));
      if (io.json) printJson(io, { address, tokens, ...(agencyAddress === null ? {} : { agency: agencyAddress }) });
      else {
        print(io, `hopgate serves at ${address}`);
        if (agencyAddress !== null) print(io, `  agency for other machines: ${agencyAddress}`);
        for (const role of ROLES_WITH_TOKEN_FILE) print(io, `  token of the ${role}: ${tokens[role]}`);
      }
      if (options.open) openBrowser(io, address, issueCode(), options.session);
      const stop =
        options.exec === undefined ? () => {} : notifyOfNewRequests(io, () => findAllPendingRequests(io), options.exec);
      await daemon.ended;
      stop();
      return;
    }
    if (Date.now() >= deadline)
      throw new CliError('daemon-busy', 'another daemon runs and does not end', 'See "hopgate daemon status".');
    await sleep(50);
  }
}

function cannotListen(error: unknown, { port, socket, agencyListen }: Options): never {
  const { code, message, syscall, ...at } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') throw error;
  const { host, port: agencyPort } = agencyListen ?? {};
  const isAgency = syscall === 'getaddrinfo' || (at.address === host && at.port === agencyPort);
  const [option, name] = isAgency
    ? ['--agency-listen', `${host}:${agencyPort}`]
    : socket === undefined
      ? ['--port', `port ${port}`]
      : ['--socket', socket];
  throw new CliError(
    'cannot-listen',
    code === 'EADDRINUSE' ? `${name} is in use` : `cannot listen on ${name}: ${message}`,
    `Name another one with ${option}${option === '--port' ? ', or --port 0 for a free one' : ''}.`,
    { cause: error },
  );
}

/** The address of the running HTTP server of this user; null if there is none. */
const findHttpAddress = async (io: Io): Promise<string | null> => (await askDaemonStatus(io))?.httpAddress ?? null;

/** Asks a running server for a one-use login code, with the operator's token. */
async function askCode(io: Io, address: string): Promise<string> {
  const { readToken } = await import('../../../operator/operator-token.ts');
  const { roleTokenFile } = await import('../../../server/access/tokens.ts');
  const answer = await fetch(`${address}/v1/login/code`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${readToken(roleTokenFile(io.env, 'operator'))}` },
  });
  return ((await answer.json()) as { readonly code: string }).code;
}

/**
 * Opens a page whose address contains a code as its fragment, which browsers do not send. The code works once, for a
 * minute. The browser gets the path of a private file that redirects to the page, because other users can read the
 * arguments of a program.
 */
function openBrowser(io: Io, address: string, code: string, session?: string): void {
  if (!address.startsWith('http:')) throw usageError('a browser cannot open a unix socket', 'Leave out --socket.');
  const url = `${address}/#code=${code}${session === undefined ? '' : `&session=${encodeURIComponent(session)}`}`;
  printRemark(io, `open ${url}`);
  const file = join(tokenFolder(io.env), 'open.html');
  rmSync(file, { force: true });
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0; url=${url.replaceAll('&', '&amp;')}">\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [file], { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}
