import { spawnSync } from 'node:child_process';
import { findProgram } from '../../base/process.ts';
import type { CommitConfig } from '../../spec/types.ts';
import type { GitRepository } from './repository.ts';

interface CommitPerson {
  readonly name: string;
  readonly email: string;
}

export interface CommitPersons {
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
}

const SECONDS = 5;
/** Variables that select another repository or its parts, and are removed. Variables that name persons are kept. */
const REPOSITORY_VARIABLES = /^GIT_(?!AUTHOR_|COMMITTER_|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)$)/;

/**
 * The author and the committer of the operator's commits: from `GIT_AUTHOR_*` and `GIT_COMMITTER_*`, the configuration
 * of the repository, the user and the system, with their includes, as git selects them. Git runs outside the sandbox,
 * because the user's configuration is not in it. It reads configuration only, so no program of the repository runs.
 * @returns null if git knows no name or no address; git's own guess from user and host is not used, because such an
 * address is invalid
 */
export function commitPersonsOf(repository: GitRepository, operator: NodeJS.ProcessEnv): CommitPersons | null {
  const ident = (which: 'AUTHOR' | 'COMMITTER'): CommitPerson | null => {
    const printed = runGit(['-c', 'user.useConfigOnly=true', 'var', `GIT_${which}_IDENT`], repository, operator);
    const [, name = '', email = ''] = /^(.*) <(.*)> \d+ [+-]\d{4}$/m.exec(printed) ?? [];
    return name === '' || email === '' ? null : { name, email };
  };
  const author = ident('AUTHOR');
  const committer = author && ident('COMMITTER');
  return author && committer && { author, committer };
}

/**
 * The author and the committer of a commit: a configured author is both; otherwise git names them. null if they are
 * unknown.
 */
export function personsOfCommit(
  commits: CommitConfig | undefined,
  ...git: Parameters<typeof commitPersonsOf>
): CommitPersons | null {
  if (commits?.author === undefined) return commitPersonsOf(...git);
  const author = readPerson(commits.author);
  return author && { author, committer: author };
}

/** The output of git, run outside the sandbox in the operator's environment; empty if git fails or is missing. */
function runGit(args: string[], { root, gitDir, commonDir }: GitRepository, operator: NodeJS.ProcessEnv): string {
  const git = findProgram('git', operator['PATH']);
  if (git === null) return '';
  const env = Object.fromEntries(Object.entries(operator).filter(([name]) => !REPOSITORY_VARIABLES.test(name)));
  const { stdout, status } = spawnSync(git, args, {
    cwd: root,
    env: { ...env, LC_ALL: 'C', GIT_DIR: gitDir, GIT_COMMON_DIR: commonDir, GIT_WORK_TREE: root },
    encoding: 'utf8',
    // A named pipe in place of one of git's files would block git forever.
    timeout: SECONDS * 1000,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout : '';
}

export const gitPersonVariables = ({ author, committer }: CommitPersons): { readonly [name: string]: string } => ({
  GIT_AUTHOR_NAME: author.name,
  GIT_AUTHOR_EMAIL: author.email,
  GIT_COMMITTER_NAME: committer.name,
  GIT_COMMITTER_EMAIL: committer.email,
});

/** Git stores a name and an address without these characters at their ends. */
const EDGES = /^[\s.,:;"'\\]+|(?<![\s.,:;"'\\])[\s.,:;"'\\]+$/g;

/** Splits `Name <address>`, in the form that git stores; null for another form. */
export function readPerson(text: string): CommitPerson | null {
  const [, name = '', email = ''] = /^([^<>\n]*[^<>\s]) <([^<>\s]+)>$/.exec(text) ?? [];
  return name === '' ? null : { name: name.replace(EDGES, ''), email: email.replace(EDGES, '') };
}

export const formatPerson = ({ name, email }: CommitPerson): string => `${name} <${email}>`;

/**
 * A git configuration that names the operator and is mounted as the system's configuration in a sandbox. So a program
 * that commits in another repository, as tests do, finds the same name as outside. The name comes from `GIT_AUTHOR_*`
 * and the configuration of the user and the system. The repository's own configuration is left out, because a hostile
 * one could include files outside of the sandbox; git in the sandbox reads it itself. Without a name and an address,
 * the section `user` is missing.
 */
export function operatorGitConfig(repository: GitRepository, operator: NodeJS.ProcessEnv): string {
  const listed = runGit(['config', '--list', '--includes', '--show-scope', '-z'], repository, operator);
  const settings = new Map<string, string>();
  // Each setting in git's output has this form: `scope NUL key LF value NUL`.
  const fields = listed.split('\0');
  for (const [at, scope] of fields.entries()) {
    if (at % 2 > 0 || scope === 'local' || scope === 'worktree') continue;
    const [key = '', ...lines] = (fields[at + 1] ?? '').split('\n');
    settings.set(key, lines.join('\n'));
  }
  const lines = (['name', 'email'] as const).flatMap((what) => {
    const text =
      operator[`GIT_AUTHOR_${what.toUpperCase()}`] || settings.get(`author.${what}`) || settings.get(`user.${what}`);
    return text ? [`\t${what} = "${text.replace(/\p{Cc}/gu, '').replace(/["\\]/g, '\\$&')}"\n`] : [];
  });
  return `${lines.length > 0 ? `[user]\n${lines.join('')}` : ''}${COMPARE_CONTENTS}`;
}

/** Compares only sizes and modification times: an overlay's inode numbers and change times differ from the index's. */
const COMPARE_CONTENTS = '[core]\n\tcheckStat = minimal\n\ttrustctime = false\n';
