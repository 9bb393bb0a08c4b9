import { userInfo } from 'node:os';
import { lstatIfAny } from '../../../base/files.ts';
import { valueOr } from '../../../base/value-or.ts';
import type { GitConfig } from '../../../spec/types.ts';
import { failedStop, isStop, type ToolStop } from '../../workspace/tool-stop.ts';
import { type CredentialContext, checkCredentialFile } from './credential-file.ts';
import { describeCredential, type GitLogin, NO_LOGIN, readOnlyMount } from './login.ts';
import type { NetworkTarget } from './push-target.ts';

/** Only characters that neither a shell nor ssh interprets. */
const PLAIN_PATH = /^\/[\p{L}\p{N}_./@+:,=~-]+$/u;

/** The settings with which ssh logs in, or a refusal. */
export function makeSshLogin(
  { remote, credential }: GitConfig,
  target: NetworkTarget,
  context: CredentialContext,
): GitLogin | ToolStop {
  if (credential?.kind !== 'key' && credential?.kind !== 'agent')
    return failedStop(
      'no-credential',
      `The remote "${remote}" (${target.url}) is reached by ssh, and no key is configured for it; ask the operator to set git.url and git.credential: { key: ~/.ssh/id_ed25519 } in hopgate.yaml, and to trust the file ("hopgate trust").`,
    );
  const hosts = checkCredentialFile(context, 'git.credential.known-hosts', credential.knownHosts);
  if (isStop(hosts)) return hosts;
  const user = target.user ?? accountName();
  if (user === null)
    return failedStop(
      'no-credential',
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
      ...NO_LOGIN,
      source: describeCredential(credential),
      env: sshEnvironment(options),
      mounts: [readOnlyMount(hosts.path), readOnlyMount(key.path)],
    };
  }
  if (!PLAIN_PATH.test(hosts.path)) return oddPath(hosts.path);
  const socket = context.env['SSH_AUTH_SOCK'];
  if (socket === undefined || !lstatIfAny(socket)?.isSocket())
    return failedStop(
      'no-credential',
      'git.credential asks for the ssh agent, and hopgate was started without one (SSH_AUTH_SOCK); ask the operator to start it with one, or to use git.credential: { key: … }.',
    );
  const env = { ...sshEnvironment([...common, 'IdentityAgent=SSH_AUTH_SOCK']), SSH_AUTH_SOCK: socket };
  return {
    ...NO_LOGIN,
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
    ...['BatchMode=yes', 'StrictHostKeyChecking=yes', 'UpdateHostKeys=no', 'GlobalKnownHostsFile=/dev/null'],
    ...['ForwardAgent=no', 'ClearAllForwardings=yes', 'PreferredAuthentications=publickey'],
    ...options,
  ];
  return { GIT_SSH_COMMAND: ['ssh -F none', ...all.map((option) => `-o ${option}`)].join(' '), GIT_SSH_VARIANT: 'ssh' };
}

const oddPath = (path: string): ToolStop =>
  failedStop(
    'no-credential',
    `ssh cannot use the path ${path}; ask the operator for a path of only letters, digits and . _ - /.`,
  );
