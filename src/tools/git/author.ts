import { spawnSync } from 'node:child_process';
import { findProgram } from '../../base/process.ts';
import type { Repository } from './repository.ts';

/** The name and address of a commit's author or committer. */
export interface Person {
  readonly name: string;
  readonly email: string;
}

export interface Persons {
  readonly author: Person;
  readonly committer: Person;
}

const SECONDS = 5;
/** Variables that select a repository or its parts; the repository is given. */
const SELECTS = /^GIT_(?!AUTHOR_|COMMITTER_|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)$)/;

/**
 * The operator's name for commits: from `GIT_AUTHOR_*` and `GIT_COMMITTER_*`, the repository's configuration, and that
 * of the user and the system, with their includes, as git itself selects it. Git runs outside the sandbox, because the
 * user's configuration is not in it. It reads configuration only, so no program of the repository runs.
 *
 * @returns null if git knows no name or no address; git's own guess from user and host is not used, because such an
 *   address is invalid
 */
export function personsOf({ root, gitDir, commonDir }: Repository, operator: NodeJS.ProcessEnv): Persons | null {
  const git = findProgram('git', operator['PATH']);
  if (git === null) return null;
  const env = Object.fromEntries(Object.entries(operator).filter(([name]) => !SELECTS.test(name)));
  const ident = (which: 'AUTHOR' | 'COMMITTER'): Person | null => {
    const { stdout, status } = spawnSync(git, ['-c', 'user.useConfigOnly=true', 'var', `GIT_${which}_IDENT`], {
      cwd: root,
      env: { ...env, LC_ALL: 'C', GIT_DIR: gitDir, GIT_COMMON_DIR: commonDir, GIT_WORK_TREE: root },
      encoding: 'utf8',
      // A named pipe in place of one of git's files would block git forever.
      timeout: SECONDS * 1000,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [, name = '', email = ''] = (status === 0 && /^(.*) <(.*)> \d+ [+-]\d{4}$/m.exec(stdout)) || [];
    return name === '' || email === '' ? null : { name, email };
  };
  const author = ident('AUTHOR');
  const committer = author && ident('COMMITTER');
  return author && committer && { author, committer };
}

/** The variables by which git commits as these persons. */
export const personVariables = ({ author, committer }: Persons): { readonly [name: string]: string } => ({
  GIT_AUTHOR_NAME: author.name,
  GIT_AUTHOR_EMAIL: author.email,
  GIT_COMMITTER_NAME: committer.name,
  GIT_COMMITTER_EMAIL: committer.email,
});

/** Splits `Name <address>`; null for another form. */
export function readPerson(text: string): Person | null {
  const [, name = '', email = ''] = /^([^<>\n]*[^<>\s]) <([^<>\s]+)>$/.exec(text) ?? [];
  return name === '' ? null : { name, email };
}

export const showPerson = ({ name, email }: Person): string => `${name} <${email}>`;

const known = new Map<string, { readonly persons: Persons | null; readonly until: number }>();
const KEPT_MS = 30_000;

/**
 * A configuration with only the operator's name, for the system's place in a sandbox: programs that commit in
 * repositories of their own, as tests do, find it as they would outside. Empty if git knows no name.
 */
export function personConfig(repository: Repository, operator: NodeJS.ProcessEnv): string {
  const now = performance.now();
  let found = known.get(repository.root);
  if (!found || found.until < now) {
    found = { persons: personsOf(repository, operator), until: now + KEPT_MS };
    known.set(repository.root, found);
  }
  const quote = (text: string) => `"${text.replace(/\p{Cc}/gu, '').replace(/["\\]/g, '\\$&')}"`;
  const author = found.persons?.author;
  return author ? `[user]\n\tname = ${quote(author.name)}\n\temail = ${quote(author.email)}\n` : '';
}
