import { expect, test } from 'vitest';
import { adviseOnSandboxError } from '../../../src/adapters/core/sandbox-advice.ts';
import { must, stage } from '../../session/sessions.ts';

test.each([
  ["fatal: Unable to create '/r/.git/index.lock': Read-only file system", /git show HEAD:PATH; .*bash-git: .*deploy/],
  ["fatal: cannot lock ref 'HEAD': Unable to create '/r/.git/HEAD.lock': Read-only file system", /git's own folder/],
  ['touch: cannot touch x: Read-only file system', /the path to a peripheral in which they can: .*edit/],
  ["fatal: '../x.git' does not appear to be a git repository", /reach no remote.*bash-git: .*deploy.*fetch/],
  ["fatal: unable to auto-detect email address (got 'x')", /commits and branches are made with bash-git: .*deploy/],
  [
    'hopgate: git-not-kept: Changes of files were kept, but not the branch x. … bash-git …',
    /^hopgate: commits .*: .*deploy/,
  ],
  ['fatal: The current branch main has no upstream branch.', /branches are pushed with bash-git: .*deploy/],
  ['fatal: No configured push destination.', /branches are pushed with bash-git: .*deploy/],
  ['To push the history leading to the current (detached HEAD)', /branches are pushed with bash-git: .*deploy/],
  ['There is no tracking information for the current branch.', /reach no remote.*ask the operator to fetch/],
  ['error: src refspec x does not match any', /branches are pushed with bash-git: .*deploy/],
  ['strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted', /debuggers and tracers/],
  ['No permission to enable cycles:u event.', /valgrind --tool=callgrind/],
  ['perf_event_open(..., 0) failed unexpectedly with error 1 (Operation not permitted)', /no performance counters/],
  ['E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?', /only the operator/],
  ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?', /no container daemon.*skopeo/],
  ['java.lang.IllegalStateException: Could not find a valid Docker environment.', /no container daemon/],
  ['error: no such command: `+nightly`', /rust-toolchain\.toml/],
  ['ERROR:  While executing gem ... (Gem::FilePermissionError)', /gems are shown read-only; .*-i \/tmp\/gems/],
  ['npm error code EAI_AGAIN', /has no network/],
  [
    "error: unable to unlink old 'hopgate.yaml': Device or resource busy",
    /neither remove nor replace.*masked files; leave them out/,
  ],
  ["dd: error writing '/tmp/x': No space left on device", /may have 1 GiB.*`home:`.*raise it/],
  ['su: Critical error - immediate abort', /no change of users/],
])('the advice of the sandbox follows the output: %s', async (output, advice) => {
  const { session } = await stage();
  await must(session.setMode({ to: 'diagnose' }));
  await must(session.start('explore', { by: 'operator' }));
  expect(adviseOnSandboxError(session, output)).toMatch(advice);
  expect(adviseOnSandboxError(session, 'all is well')).toBeNull();
  expect(adviseOnSandboxError(session, 'EAI_AGAIN\nThere is no network here.')).toBeNull();
});
