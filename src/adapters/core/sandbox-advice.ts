import { describeWay } from '../../gate/describe-denial.ts';
import type { Session } from '../../session/session.ts';

const READ_ONLY = /Read-only file system|EROFS/;
const NOT_PERMITTED = /Operation not permitted|EPERM|^su(?:do)?: /m;
const BUSY = /Device or resource busy|EBUSY/;
const NO_SPACE = /No space left on device|ENOSPC|File size limit exceeded|File too large|EFBIG/;
const NO_NETWORK =
  /Could not resolve host|Temporary failure in name resolution|Name or service not known|Network is unreachable|EAI_AGAIN|ENETUNREACH/;

/** A result that contains this text needs no further advice. */
const NAMES_NO_NETWORK = 'There is no network here';

/** Git could not create a lock file, or change its configuration, in its own folder. */
const GIT_READ_ONLY = /\.lock'?: (?:Read-only file system|Permission denied)|could not lock config file/;

/** A debugger or tracer failed to attach. */
const NO_TRACING = /ptrace|PTRACE_/i;

/** A profiler found no performance counters. */
const NO_COUNTERS = /perf_event_open|No permission to enable \S+ event/;

/** Cargo found no such subcommand, or another toolchain was named. */
const NO_CARGO_COMMAND = /error: no such command: `/;

/** RubyGems could not write to a folder of the operator's gems. */
const NO_GEM_FOLDER = /Gem::FilePermissionError/;

/** Docker, Podman, or a test library that starts containers reached no daemon. */
const NO_CONTAINERS =
  /Cannot connect to the Docker daemon|failed to connect to the docker API|valid Docker environment|working container runtime|Error while fetching server API version|Cannot connect to Podman/;

/** A manager of system packages could not install one. */
const NO_PACKAGES = /dpkg frontend lock|dpkg\/lock|Unable to locate package/;

/** Git reached no remote repository. */
const NO_REMOTE =
  /does not appear to be a git repository|Could not read from remote repository|unable to access '|There is no tracking information/;

/** Git has no author for a commit in the sandbox, or the sandbox dropped a commit or branch of the command. */
const NO_COMMIT = /Author identity unknown|unable to auto-detect email address|git-not-kept: .*bash-git/;

/** Git found no branch to push, such as one that the sandbox dropped, or no branch of a remote to push to. */
const NO_BRANCH =
  /src refspec \S+ does not match any|has no upstream branch|No configured push destination|To push the history leading to/;

/**
 * Advice if git's folder is read-only. It is read-only outside of the peripheral edit; in a linked work tree or a
 * submodule, it is read-only in edit too.
 */
function gitAdvice(session: Session): string {
  const restore = 'the content of a file at a commit is printed by: git show HEAD:PATH';
  const commit = wayToGit(session, 'commit', '; commits and branches are made with bash-git: ');
  const here = session.state.peripheral ?? 'no peripheral';
  return `hopgate: git's own folder is read-only for this command in ${here}; ${restore}${commit}`;
}

/** The text, followed by the path to a peripheral in which bash-git runs `sub`; empty if there is no path. */
function wayToGit(session: Session, sub: string, text: string): string {
  const { way } = session.why({ tool: 'bash-git', args: { sub } }) ?? {};
  return way && way.length > 0 ? `${text}${describeWay(way)}` : '';
}

/** Advice after an error that the sandbox's kernel caused; null if none is printed. No decision depends on it. */
export function adviseOnSandboxError(session: Session, output: string): string | null {
  if (GIT_READ_ONLY.test(output)) return gitAdvice(session);
  if (NO_COMMIT.test(output))
    return wayToGit(session, 'commit', 'hopgate: commits and branches are made with bash-git: ') || null;
  if (NO_BRANCH.test(output)) return wayToGit(session, 'push', 'hopgate: branches are pushed with bash-git: ') || null;
  if (NO_REMOTE.test(output))
    return `hopgate: commands reach no remote repository${wayToGit(session, 'push', '; branches are pushed with bash-git: ')}; ask the operator to fetch`;
  if (NO_PACKAGES.test(output)) return 'hopgate: only the operator installs packages of the system; ask them to';
  if (NO_CONTAINERS.test(output))
    return 'hopgate: commands reach no container daemon, because it could change everything on this machine; push images with a program that needs none (skopeo, crane), or ask the operator to run what needs one';
  if (NO_GEM_FOLDER.test(output))
    return "hopgate: the operator's gems are shown read-only; install into a folder of your own, as in `gem install -i /tmp/gems`, or ask the operator to install";
  if (NO_CARGO_COMMAND.test(output))
    return 'hopgate: commands use the toolchain that rustup chooses for the repository, without +toolchain; another one is named in rust-toolchain.toml, and only the operator installs toolchains, components and subcommands';
  if (NO_COUNTERS.test(output))
    return 'hopgate: commands reach no performance counters of the machine; measure with time, valgrind --tool=callgrind or the profiler of the language, or ask the operator to run perf';
  if (READ_ONLY.test(output)) {
    const { way, available } = session.why({ tool: 'write', args: { path: '.', content: '' } }) ?? {};
    if (way && way.length > 0)
      return `hopgate: commands cannot change files in ${available?.peripheral}; the path to a peripheral in which they can: ${describeWay(way)}`;
    return 'hopgate: this command may write only within the scope of this peripheral, and in its own home and temporary folders';
  }
  if (BUSY.test(output))
    return 'hopgate: commands can neither remove nor replace hopgate.yaml, other protected files and masked files; leave them out, as in `git checkout -- PATH` for the files that you changed';
  if (NO_SPACE.test(output))
    return 'hopgate: the home folder and /tmp of a command, and each of its files, may have 1 GiB, or what `home:` in hopgate.yaml says; ask the operator to raise it';
  if (output.includes(NAMES_NO_NETWORK)) return null;
  if (NO_NETWORK.test(output))
    return 'hopgate: this command has no network; ask the operator to run what needs one, or to configure it in hopgate.yaml';
  if (NOT_PERMITTED.test(output) && NO_TRACING.test(output))
    return 'hopgate: debuggers and tracers (gdb, strace) cannot attach in the sandbox; print values instead, use a sanitizer, or ask the operator to run it';
  return NOT_PERMITTED.test(output)
    ? 'hopgate: the sandbox permits no change of users, owners, mounts, devices or processes of others; ask the operator to run what needs one'
    : null;
}
