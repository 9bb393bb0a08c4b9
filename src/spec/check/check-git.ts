import type { PartiallyParsed } from '../schema/parse-partial.ts';
import type { ProjectFile } from '../schema/project-file.ts';
import type { ReportSpecProblem } from './spec-problem.ts';

type Git = PartiallyParsed<NonNullable<ProjectFile['git']>>;

const HTTPS = ['env', 'file', 'helper'] as const;
const SSH = ['key', 'agent'] as const;

/** Matches the beginning of an access token of a hosting service. */
const LOOKS_SECRET = /^(?:gh[a-z]_|github_pat_|glpat|gldt|ATATT|ATBB)/;

/**
 * Checks the keys of `git` against each other: a credential needs one stated address, whose form fits the kind of the
 * credential.
 */
export function checkGitConfig({ url, credential, ca, remote, branch }: Git, report: ReportSpecProblem): void {
  const pushes = [remote, branch, url, credential, ca].some((stated) => stated !== undefined);
  for (const [key, stated] of Object.entries({ remote, branch }))
    if (pushes && stated === undefined) report(['git'], `"${key}" is missing`, `state the ${key} that may be pushed`);
  const isHttps = url === undefined ? null : /^https:/i.test(url);
  if (ca !== undefined && isHttps !== true)
    report(['git', 'ca'], 'is only allowed with an https:// url', 'state git.url, or remove it');
  if (credential === undefined) return;
  const at = ['git', 'credential'];
  const stated = [...HTTPS, ...SSH].filter((kind) => credential[kind] !== undefined);
  if (stated.length !== 1) {
    report(at, 'needs exactly one of env, file, helper, key and agent', 'keep one of them');
    return;
  }
  const program = credential.helper?.[0];
  if (program !== undefined && !/^(?:\/|~\/)/.test(program))
    report([...at, 'helper', 0], 'is not the path of a program', 'begin with / or with ~/ for the home folder');
  if (credential.env !== undefined && LOOKS_SECRET.test(credential.env))
    report(
      [...at, 'env'],
      'looks like a secret itself',
      'give the name of a variable here, and replace the exposed secret',
    );
  const forHttps = HTTPS.some((kind) => kind === stated[0]);
  if (credential.username !== undefined && stated[0] !== 'env' && stated[0] !== 'file')
    report(
      [...at, 'username'],
      'is only allowed with env or file',
      forHttps ? 'the helper supplies the user name' : 'write the user name into url',
    );
  if (credential['known-hosts'] !== undefined && forHttps)
    report(
      [...at, 'known-hosts'],
      'is only allowed with key or agent',
      'for the certificates of an https remote write git.ca',
    );
  if (isHttps === null) report(at, 'is valid for one address only, and git.url is not set', 'state git.url');
  else if (isHttps !== forHttps)
    report(
      [...at, stated[0]!],
      `is for ${forHttps ? 'https' : 'ssh'}, and url is an ${isHttps ? 'https' : 'ssh'} address`,
      `use one of ${(isHttps ? HTTPS : SSH).join(', ')}`,
    );
}
