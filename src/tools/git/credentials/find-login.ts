import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { valueOr } from '../../../base/value-or.ts';
import type { ToolCall } from '../../../ports/tool-backend.ts';
import type { GitConfig, GitCredential } from '../../../spec/types.ts';
import { findUpstreamProxy } from '../../proxy/upstream-proxy.ts';
import { expandHome } from '../../sandbox/mounts/layout.ts';
import { failedStop, isStop, type ToolStop } from '../../workspace/tool-stop.ts';
import type { Repository } from '../repository.ts';
import { type CredentialContext, checkCredentialFile } from './credential-file.ts';
import { askCredentialHelper } from './credential-helper.ts';
import { describeCredential, type GitLogin, NO_LOGIN, readOnlyMount } from './login.ts';
import type { NetworkTarget } from './push-target.ts';
import { makeSshLogin } from './ssh-login.ts';

const SECRET_BYTES = 64 << 10;
/** Reads the operator's credential for a remote. It is kept only during the call. */
export async function findLogin(
  repository: Repository,
  call: ToolCall,
  git: GitConfig,
  target: NetworkTarget,
): Promise<GitLogin | ToolStop> {
  const toolchains = call.envelope.config.toolchains
    .map(expandHome)
    .flatMap((folder) => (existsSync(folder) ? [realpathSync(folder)] : []));
  const context: CredentialContext = {
    env: process.env,
    reach: [repository.root, repository.gitDir, repository.commonDir, ...toolchains],
  };
  if (target.scheme === 'ssh') return makeSshLogin(git, target, context);
  const proxy = proxyFor(target, context.env);
  if (isStop(proxy)) return proxy;
  const ca = git.ca === undefined ? null : checkCredentialFile(context, 'git.ca', git.ca);
  if (ca !== null && isStop(ca)) return ca;
  const password = await passwordFor(git.credential, target, call, context);
  if (password !== null && isStop(password)) return password;
  return {
    ...NO_LOGIN,
    source: password === null ? null : describeCredential(git.credential),
    password,
    env: { ...proxy, ...(ca === null ? {} : { GIT_SSL_CAINFO: ca.path }) },
    mounts: ca === null ? [] : [readOnlyMount(ca.path)],
  };
}

/** The operator's proxy as variables of git. It is not in a command line, because it may contain a password. */
function proxyFor({ url }: NetworkTarget, env: NodeJS.ProcessEnv): { readonly [name: string]: string } | ToolStop {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const via = findUpstreamProxy(env, 'https', { host, port: Number(port || 443) });
  if (via === null) return {};
  if ('problem' in via) return failedStop('unusable-proxy', `${via.problem}.`);
  return { https_proxy: via.url.href, no_proxy: '' };
}

async function passwordFor(
  credential: GitCredential | undefined,
  target: NetworkTarget,
  call: ToolCall,
  context: CredentialContext,
): Promise<GitLogin['password'] | ToolStop> {
  switch (credential?.kind) {
    case undefined: {
      const { name, password } = target.user ?? { name: '', password: null };
      return password === null
        ? null
        : checkSecret({ username: name, password }, "the remote's address in .git/config");
    }
    case 'env': {
      const { name, username } = credential;
      const password = context.env[name];
      if (password === undefined || password === '')
        return failedStop(
          'no-credential',
          `git.credential names the variable ${name}, and hopgate was started without it; ask the operator to set it where hopgate (or its daemon) is started, or to use git.credential: { file: … }.`,
        );
      return checkSecret({ username, password }, `the variable ${name}`);
    }
    case 'file': {
      const file = checkCredentialFile(context, 'git.credential.file', credential.path);
      if (isStop(file)) return file;
      const password = firstLine(file.path);
      if (password === null)
        return failedStop(
          'no-credential',
          `${credential.path} cannot be read; ask the operator to correct git.credential.file.`,
        );
      return checkSecret({ username: credential.username, password }, credential.path);
    }
    case 'helper': {
      const [program = '', ...words] = credential.command;
      const file = checkCredentialFile(context, 'git.credential.helper', program);
      if (isStop(file)) return file;
      const answer = await askCredentialHelper([file.path, ...words], target, call);
      return isStop(answer) ? answer : checkSecret(answer, program);
    }
    default:
      // Unreachable: a hopgate.yaml with a key for an https address is refused.
      return failedStop('no-credential', NO_HTTPS);
  }
}

const NO_HTTPS =
  'The remote is reached over https, and git.credential in hopgate.yaml is for ssh; ask the operator to correct it.';

const firstLine = (path: string): string | null =>
  valueOr(() => readFileSync(path, 'utf8').slice(0, SECRET_BYTES).split('\n')[0]!.replace(/\r$/, ''), null);

/** Returns the secret if git's credential protocol can carry it. */
function checkSecret(
  secret: NonNullable<GitLogin['password']>,
  where: string,
): NonNullable<GitLogin['password']> | ToolStop {
  if (secret.password !== '' && !/[\0\r\n]/.test(`${secret.username}${secret.password}`)) return secret;
  return failedStop(
    'no-credential',
    `The secret of git.credential (${where}) is empty or not a single line of text; ask the operator to fix it.`,
  );
}
