import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { lstatIfAny } from '../../../base/files.ts';
import { splitWords } from '../../../base/text.ts';
import { valueOr } from '../../../base/value-or.ts';
import type { ToolCall } from '../../../ports/tool-backend.ts';
import type { GitConfig, GitCredential } from '../../../spec/types.ts';
import { findUpstreamProxy } from '../../proxy/upstream-proxy.ts';
import { expandTilde } from '../../sandbox/mounts/layout.ts';
import { failedToolStop, isStop, type ToolStop } from '../../workspace/tool-stop.ts';
import type { GitRepository } from '../repository.ts';
import { type CredentialContext, checkCredentialFile } from './credential-file.ts';
import { askCredentialHelper } from './credential-helper.ts';
import { describeCredential, type GitLogin, NO_GIT_LOGIN, readOnlyMount } from './login.ts';
import type { NetworkTarget } from './push-target.ts';

const SECRET_BYTES = 64 << 10;

/** Reads the operator's credential for a remote. It is kept only during the call. */
export async function findGitLogin(
  repository: GitRepository,
  call: ToolCall,
  git: GitConfig,
  target: NetworkTarget,
): Promise<GitLogin | ToolStop> {
  const toolchains = call.envelope.config.toolchains
    .map(expandTilde)
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
    ...NO_GIT_LOGIN,
    source: password === null ? null : describeCredential(git.credential),
    password,
    env: { ...proxy, ...(ca === null ? {} : { GIT_SSL_CAINFO: ca.path }) },
    mounts: ca === null ? [] : [readOnlyMount(ca.path)],
  };
}

const noCredential = (message: string): ToolStop => failedToolStop('no-credential', message);

/** Git's variables for the operator's proxy. A command line would show the password in the proxy's address. */
function proxyFor({ url }: NetworkTarget, env: NodeJS.ProcessEnv): { readonly [name: string]: string } | ToolStop {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const via = findUpstreamProxy(env, 'https', { host, port: Number(port || 443) });
  if (via === null) return {};
  if ('problem' in via) return failedToolStop('unusable-proxy', `${via.problem}.`);
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
        return noCredential(
          `git.credential names the variable ${name}, and hopgate was started without it; ask the operator to set it where hopgate (or its daemon) is started, or to use git.credential: { file: … }.`,
        );
      return checkSecret({ username, password }, `the variable ${name}`);
    }
    case 'file': {
      const file = checkCredentialFile(context, 'git.credential.file', credential.path);
      if (isStop(file)) return file;
      const password = firstLine(file.path);
      if (password === null)
        return noCredential(`${credential.path} cannot be read; ask the operator to correct git.credential.file.`);
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
      return noCredential(
        'The remote is reached over https, and git.credential in hopgate.yaml is for ssh; ask the operator to correct it.',
      );
  }
}

const firstLine = (path: string): string | null =>
  valueOr(() => readFileSync(path, 'utf8').slice(0, SECRET_BYTES).split('\n')[0]!.replace(/\r$/, ''), null);

/** Returns the secret, or a refusal if git's credential protocol cannot carry it. */
function checkSecret(
  secret: NonNullable<GitLogin['password']>,
  where: string,
): NonNullable<GitLogin['password']> | ToolStop {
  if (secret.password !== '' && !/[\0\r\n]/.test(`${secret.username}${secret.password}`)) return secret;
  return noCredential(`The secret of git.credential (${where}) is empty or not one line; ask the operator to fix it.`);
}

/** Matches paths of characters that neither a shell nor ssh interprets. */
const PLAIN_PATH = /^\/[\p{L}\p{N}_./@+:,=~-]+$/u;

/** The settings with which ssh logs in, or a refusal. */
function makeSshLogin(
  { remote, credential }: GitConfig,
  target: NetworkTarget,
  context: CredentialContext,
): GitLogin | ToolStop {
  if (credential?.kind !== 'key' && credential?.kind !== 'agent')
    return noCredential(
      `The remote "${remote}" (${target.url}) is reached by ssh, and no key is configured for it; ask the operator to set git.url and git.credential: { key: ~/.ssh/id_ed25519 } in hopgate.yaml, and to trust the file ("hopgate trust").`,
    );
  const hosts = checkCredentialFile(context, 'git.credential.known-hosts', credential.knownHosts);
  if (isStop(hosts)) return hosts;
  const user = target.user ?? accountName();
  if (user === null)
    return noCredential(
      `git.url names no user, and the account with the id ${process.getuid?.()} has no name; ask the operator to write the user into git.url (ssh://git@…).`,
    );
  const common = [`UserKnownHostsFile=${hosts.path}`, ...(target.user === null ? [`User=${user}`] : [])];
  if (credential.kind === 'key') {
    const key = checkCredentialFile(context, 'git.credential.key', credential.path);
    if (isStop(key)) return key;
    const odd = [hosts.path, key.path].find((path) => !PLAIN_PATH.test(path));
    if (odd !== undefined) return oddPath(odd);
    const options = [...common, `IdentityFile=${key.path}`, 'IdentitiesOnly=yes', 'IdentityAgent=none'];
    return {
      ...NO_GIT_LOGIN,
      source: describeCredential(credential),
      env: sshEnvironment(options),
      mounts: [readOnlyMount(hosts.path), readOnlyMount(key.path)],
    };
  }
  if (!PLAIN_PATH.test(hosts.path)) return oddPath(hosts.path);
  const socket = context.env['SSH_AUTH_SOCK'];
  if (socket === undefined || !lstatIfAny(socket)?.isSocket())
    return noCredential(
      'git.credential asks for the ssh agent, and hopgate was started without one (SSH_AUTH_SOCK); ask the operator to start it with one, or to use git.credential: { key: … }.',
    );
  const env = { ...sshEnvironment([...common, 'IdentityAgent=SSH_AUTH_SOCK']), SSH_AUTH_SOCK: socket };
  return {
    ...NO_GIT_LOGIN,
    source: describeCredential(credential),
    env,
    mounts: [readOnlyMount(hosts.path), readOnlyMount(socket)],
    unixSockets: true,
  };
}

/** The account that runs hopgate; null if the system lists no account with its id, as in some containers. */
const accountName = (): string | null => valueOr(() => userInfo().username, null);

/** Neither the user's nor the system's ssh configuration is read, and ssh never prompts. */
function sshEnvironment(options: readonly string[]): { readonly [name: string]: string } {
  const all = [
    ...splitWords(`
      BatchMode=yes StrictHostKeyChecking=yes UpdateHostKeys=no GlobalKnownHostsFile=/dev/null ForwardAgent=no
      ClearAllForwardings=yes PreferredAuthentications=publickey
    `),
    ...options,
  ];
  return { GIT_SSH_COMMAND: ['ssh -F none', ...all.map((option) => `-o ${option}`)].join(' '), GIT_SSH_VARIANT: 'ssh' };
}

const oddPath = (path: string): ToolStop =>
  noCredential(`ssh cannot use the path ${path}; ask the operator for a path of only letters, digits and . _ - /.`);
