import { splitWords } from '../../base/text.ts';
import type { GitLogin } from './credentials/login.ts';
import type { PushTarget } from './credentials/push-target.ts';
import type { GitRepository } from './repository.ts';

/** Protocols that a push may use. No other sub-command may contact a remote. */
export const PUSH_PROTOCOLS = 'file:https:ssh';

/**
 * The environment of every git call: no configuration but the repository's own, no prompts, no pagers, no editors, no
 * helpers. Variables name the repository, so git does not search for one.
 */
export function gitEnvironment(repository: GitRepository, protocols: string): { readonly [name: string]: string } {
  return {
    GIT_DIR: repository.gitDir,
    GIT_WORK_TREE: repository.root,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_ASKPASS: 'true',
    SSH_ASKPASS: 'true',
    GIT_SSH_COMMAND: 'false',
    GIT_ALLOW_PROTOCOL: protocols,
  };
}

/** Settings that override the repository's. `git-config-keys.ts` finds keys that cannot be overridden. */
const SETTINGS: readonly string[] = splitWords(`
  core.hooksPath=/dev/null core.fsmonitor=false core.pager=cat core.editor=true core.askPass=true core.sshCommand=false
  core.attributesFile=/dev/null core.excludesFile=/dev/null core.alternateRefsCommand= sequence.editor=true
  core.sharedRepository=umask core.checkStat=default core.trustctime=true core.ignoreCase=false core.commitGraph=false diff.orderFile=/dev/null
  credential.helper= protocol.ext.allow=never
  commit.gpgSign=false commit.verbose=false commit.cleanup=whitespace
  i18n.commitEncoding=UTF-8 i18n.logOutputEncoding=UTF-8 tag.gpgSign=false push.gpgSign=false push.followTags=false
  gpg.program=/bin/false gpg.openpgp.program=/bin/false gpg.x509.program=/bin/false gpg.ssh.program=/bin/false
  log.showSignature=false log.follow=false mailmap.file=/dev/null
  diff.submodule=short diff.ignoreSubmodules=dirty submodule.recurse=false status.submoduleSummary=false
  gc.auto=0 maintenance.auto=false
  color.ui=false color.status=false color.diff=false color.branch=false advice.statusHints=true
  advice.graftFileDeprecated=false
`);

/** The descriptor from which git's processes read the password. */
const PASSWORD_FD = 9;

/** Moves the script's stdin to the descriptor that the helper of {@link gitSettingsForPush} reads. */
const PASSWORD_SCRIPT = `exec ${PASSWORD_FD}<&0 </dev/null; exec "$@"`;

/** The command and the stdin for a git that receives a password. */
export function passPasswordToGit(
  argv: readonly string[],
  { username, password }: { readonly username: string; readonly password: string },
): { readonly argv: readonly string[]; readonly stdin: string } {
  return { argv: ['sh', '-c', PASSWORD_SCRIPT, 'sh', ...argv], stdin: `username=${username}\npassword=${password}\n` };
}

/**
 * Settings for a push to one address: git follows no redirect, uses only the proxy that the login's variables name, and
 * asks only hopgate's helper for a password, for this host only.
 */
export function gitSettingsForPush(target: PushTarget, login: GitLogin | null): string[] {
  if (target.kind === 'local') return [];
  const settings = ['http.followRedirects=false', ...(login?.env['https_proxy'] ? [] : ['http.proxy='])];
  if (!login?.password) return settings;
  const helper = `!f() { test "$1" = get && cat <&${PASSWORD_FD}; }; f`;
  return [...settings, `credential.${new URL(target.url).origin}.helper=${helper}`];
}

/**
 * The words of git's command line before every sub-command.
 * @param more additional settings of this call
 * @param submodules names of the configured submodules: their work trees have configurations of their own, so git must
 *   not look into them
 */
export function hardenedArgv(
  repository: GitRepository,
  submodules: readonly string[],
  more: readonly string[] = [],
): string[] {
  const settings = [
    ...SETTINGS,
    `safe.directory=${repository.root}`,
    `safe.directory=${repository.gitDir}`,
    ...submodules.map((name) => `submodule.${name}.ignore=dirty`),
    ...more,
  ];
  return ['git', '--no-pager', ...settings.flatMap((setting) => ['-c', setting])];
}
