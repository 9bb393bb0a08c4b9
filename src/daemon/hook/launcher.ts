import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, constants, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isAccessible, isOwnFile, writeAtomically } from '../../base/files.ts';
import { findProgram } from '../../base/process.ts';
import { quoteShell } from '../../base/text.ts';
import { type Env, userStateFolder } from '../../base/user-folders.ts';
import { ensurePrivateDir } from '../daemon-folder.ts';
import { commandEntryFile, compileCacheFolder, packageFolder } from '../package-files.ts';
import { launcherScriptPath } from '../run-command.ts';
import { daemonSocketPath, daemonTokenPath } from './ask-daemon.ts';

/** Time limit in milliseconds; shorter than the limit of client programs for a hook, which is at least 30 s. */
const DEADLINE_MS = 25_000;

interface Launcher {
  /** Absolute path of the script that client programs run. */
  readonly file: string;
  /** The program that asks the daemon: the compiled client, or Node if there is no C compiler. */
  readonly client: 'compiled' | 'node';
}

/**
 * The command line for a client program's settings. Even if the program that it starts is missing, is killed or
 * crashes, the command line exits with 0 and the complete answer, or with 2 and a reason on standard error, before the
 * client's own timeout.
 * @param client `claude-code`, `codex`
 */
export function hookCommand(client: string, env: Env): string {
  const { file } = installLauncher(env);
  const otherwise = "echo 'hopgate could not answer, so this is refused; run: hopgate daemon status' >&2";
  return `${quoteShell(file)} ${quoteShell(client)}; s=$?; [ $s -eq 0 ] && exit 0; [ $s -eq 2 ] || ${otherwise}; exit 2`;
}

/** Writes the script that client programs run. Compiles its client if there is a C compiler. Idempotent. */
export function installLauncher(env: Env, log: (line: string) => void = () => {}): Launcher {
  const folder = ensurePrivateDir(join(userStateFolder(env), 'bin'));
  const compiled = compiledClient(folder, env, log);
  const file = launcherScriptPath(env);
  writeIfChanged(file, launcherScript(compiled, env), 0o700);
  return { file, client: compiled ? 'compiled' : 'node' };
}

/** The client compiled from the current source; null if it cannot be compiled. */
function compiledClient(folder: string, env: Env, log: (line: string) => void): string | null {
  const source = join(packageFolder(), 'src', 'daemon', 'client', 'hook-client.c');
  if (!existsSync(source) || env['HOPGATE_HOOK_CLIENT'] === 'node') return null;
  const name = createHash('sha256').update(readFileSync(source)).update(process.arch).digest('hex').slice(0, 16);
  const file = join(folder, `hook-client-${name}`);
  if (existsSync(file)) return isOwnProgram(file) ? file : null;
  const cc = ['cc', 'gcc', 'clang'].map((name) => findProgram(name, env['PATH'])).find((path) => path !== null);
  if (!cc) return null;
  const unfinished = `${file}.${process.pid}`;
  const build = (flags: readonly string[]) =>
    spawnSync(cc, ['-O2', ...flags, '-o', unfinished, source], {
      timeout: 30_000,
      encoding: 'utf8',
      env: { PATH: env['PATH'] },
    });
  let result = build(['-static']);
  if (result.status !== 0) result = build([]);
  if (result.status !== 0) {
    log(`the hook client could not be compiled: ${(result.stderr ?? '').slice(0, 500)}`);
    rmSync(unfinished, { force: true });
    return null;
  }
  chmodSync(unfinished, 0o700);
  renameSync(unfinished, file);
  return file;
}

function isOwnProgram(file: string): boolean {
  const stat = statSync(file);
  return isOwnFile(stat) && (stat.mode & 0o022) === 0 && isAccessible(file, constants.X_OK);
}

/** @param client path of the compiled client that asks the daemon; null if Node asks it */
function launcherScript(client: string | null, env: Env): string {
  const timeout = findProgram('timeout', env['PATH']);
  const limited = timeout ? `${quoteShell(timeout)} -s KILL ${Math.ceil(DEADLINE_MS / 1000) + 1} ` : '';
  return `#!/bin/sh
# Written by hopgate: what client programs run for their hooks. Do not edit; "hopgate daemon start" replaces it.
if [ "\${1-}" = line ]; then
  if [ -n "\${NO_COLOR-}" ]; then HOPGATE_NO_COLOR=1; export HOPGATE_NO_COLOR; fi
  if [ -n "\${3-}" ]; then
    # The user's own status line runs in the user's own environment, and follows that of hopgate.
    input=$(cat)
    ours=$(printf '%s\\n' "$input" | "$0" line "\${2-}" 2>/dev/null)
    theirs=$(printf '%s\\n' "$input" | /bin/sh -c "$3")
    printf '%s\\n' "$ours\${ours:+\${theirs:+ | }}$theirs"
    exit 0
  fi
fi
unset NODE_OPTIONS OPENSSL_CONF ENV BASH_ENV LD_PRELOAD LD_AUDIT
# Regardless of the settings of a repository.
export XDG_STATE_HOME=${quoteShell(dirname(userStateFolder(env)))} NODE_COMPILE_CACHE=${quoteShell(compileCacheFolder(env))}
node=${quoteShell(process.execPath)}
entry=${quoteShell(commandEntryFile())}
socket=${quoteShell(daemonSocketPath(env))}
token=${quoteShell(daemonTokenPath(env))}
refuse() {
  printf 'hopgate could not decide this call, so it is refused: %s\\nRepeat the call; if it fails again, the operator should run "hopgate doctor".\\n' "$1" >&2
  exit 2
}
alone() {
  set -- "$node" --min-semi-space-size=8 --v8-pool-size=1 "$entry" "$kind" "$name"
  if [ "$kind" = run ]; then "$@"; else ${limited}"$@"; fi
}
[ "$#" -ge 1 ] || refuse 'it was called without the name of a client program'
case $1 in run|line) kind=$1 name=\${2-} ;; *) kind=hook name=$1 ;; esac
${client ? askBy(client) : 'alone'}
status=$?
[ "$kind" = hook ] || exit "$status"
case $status in 0|2) exit "$status" ;; esac
refuse "the hook ended with status $status"
`;
}

const askBy = (client: string): string => `client=${quoteShell(client)}
if [ -r "$client" ]; then
  "$client" "$socket" "$token" "$entry" ${DEADLINE_MS} "$node" "$kind" "$name"
else
  alone
fi`;

/** Writes a file atomically, and only if it differs. */
function writeIfChanged(file: string, text: string, mode: number): void {
  if (existsSync(file) && isOwnProgram(file) && readFileSync(file, 'utf8') === text) return;
  writeAtomically(file, text, mode);
}
