import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import type { ToolCall } from '../../ports/tool-backend.ts';
import type { GitConfig, GitCredential } from '../../spec/types.ts';
import { isWithin, type Mount } from '../sandbox/layout.ts';
import { failed, isStop, type Stop } from '../workspace/outcome.ts';
import { askHelper } from './credential-helper.ts';
import type { NetworkTarget } from './push-target.ts';
import type { Repository } from './repository.ts';

/** What one push shows the remote, and the files that this takes. */
export interface Login {
  /** Where that stands, for messages; null if there is nothing. */
  readonly shown: string | null;
  /** For https; git is given it over a pipe, so that it stands in no command line, no environment and no file. */
  readonly password: { readonly username: string; readonly password: string } | null;
  readonly env: { readonly [name: string]: string };
  readonly mounts: readonly Mount[];
  /** ssh has to reach the operator's agent. */
  readonly unixSockets: boolean;
}

const NOTHING: Login = { shown: null, password: null, env: {}, mounts: [], unixSockets: false };
const SECRET_BYTES = 64 << 10;
/** What ssh would read more into than a path. */
const PLAIN_PATH = /^\/[^\s"'%$\\]+$/;

/** What the operator configured for this remote, read now and kept no longer than the call. */
export async function loginFor(
  repository: Repository,
  call: ToolCall,
  git: GitConfig,
  target: NetworkTarget,
): Promise<Login | Stop> {
  const places: Places = {
    env: process.env,
    reach: [repository.root, repository.gitDir, repository.commonDir, ...call.grant.config.toolchains],
  };
  if (target.scheme === 'ssh') return sshLogin(git, target, places);
  const ca = git.ca === undefined ? null : fileOutside(places, 'git.ca', git.ca);
  if (ca !== null && isStop(ca)) return ca;
  const password = await passwordFor(git.credential, target, call, places);
  if (password !== null && isStop(password)) return password;
  return {
    ...NOTHING,
    shown: password === null ? null : describe(git.credential),
    password,
    env: ca === null ? {} : { GIT_SSL_CAINFO: ca.path },
    mounts: ca === null ? [] : [readOnly(ca.path)],
  };
}

interface Places {
  readonly env: { readonly [name: string]: string | undefined };
  /** What agents can read, or write. */
  readonly reach: readonly string[];
}

const readOnly = (path: string): Mount => ({ kind: 'read-only', source: path, target: path });

async function passwordFor(
  credential: GitCredential | undefined,
  target: NetworkTarget,
  call: ToolCall,
  places: Places,
): Promise<Login['password'] | Stop> {
  switch (credential?.kind) {
    case undefined: {
      const { name, password } = target.user ?? { name: '', password: null };
      return password === null ? null : checked({ username: name, password }, "the remote's address in .git/config");
    }
    case 'env': {
      const { name, username } = credential;
      const password = places.env[name];
      if (password === undefined || password === '')
        return failed(
          'no-credential',
          `git.credential names the variable ${name}, and hopgate was started without it; ask the operator to set it where hopgate (or its daemon) is started, or to use git.credential: { file: … }.`,
        );
      return checked({ username, password }, `the variable ${name}`);
    }
    case 'file': {
      const file = fileOutside(places, 'git.credential.file', credential.path);
      if (isStop(file)) return file;
      const password = firstLine(file.path);
      if (password === null)
        return failed(
          'no-credential',
          `${credential.path} cannot be read; ask the operator to correct git.credential.file.`,
        );
      return checked({ username: credential.username, password }, credential.path);
    }
    case 'helper': {
      const [program = '', ...words] = credential.command;
      const file = fileOutside(places, 'git.credential.helper', program);
      if (isStop(file)) return file;
      const answer = await askHelper([file.path, ...words], target, call);
      return isStop(answer) ? answer : checked(answer, program);
    }
    default:
      // hopgate.yaml is refused with a key for an https address.
      return failed('no-credential', NO_HTTPS);
  }
}

const NO_HTTPS =
  'The remote is reached over https, and git.credential in hopgate.yaml is for ssh; ask the operator to correct it.';

function firstLine(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').slice(0, SECRET_BYTES).split('\n')[0]!.replace(/\r$/, '');
  } catch {
    return null;
  }
}

/** A secret that git's credential protocol can carry. */
function checked(secret: NonNullable<Login['password']>, where: string): NonNullable<Login['password']> | Stop {
  if (secret.password !== '' && !/[\0\r\n]/.test(`${secret.username}${secret.password}`)) return secret;
  return failed(
    'no-credential',
    `What git.credential leads to (${where}) is empty or not one line of text; ask the operator to mend it.`,
  );
}

function sshLogin({ remote, credential }: GitConfig, target: NetworkTarget, places: Places): Login | Stop {
  if (credential?.kind !== 'key' && credential?.kind !== 'agent')
    return failed(
      'no-credential',
      `The remote "${remote}" (${target.url}) is reached by ssh, and no key is configured for it; ask the operator to set git.url and git.credential: { key: ~/.ssh/id_ed25519 } in hopgate.yaml, and to accept the file ("hopgate trust").`,
    );
  const hosts = fileOutside(places, 'git.credential.known-hosts', credential.knownHosts);
  if (isStop(hosts)) return hosts;
  const common = [`UserKnownHostsFile=${hosts.path}`, ...(target.user === null ? [`User=${userInfo().username}`] : [])];
  if (credential.kind === 'key') {
    const key = fileOutside(places, 'git.credential.key', credential.path);
    if (isStop(key)) return key;
    const odd = [hosts.path, key.path].find((path) => !PLAIN_PATH.test(path));
    if (odd !== undefined) return oddPath(odd);
    const options = [...common, `IdentityFile=${key.path}`, 'IdentitiesOnly=yes', 'IdentityAgent=none'];
    return {
      ...NOTHING,
      shown: describe(credential),
      env: sshEnvironment(options),
      mounts: [readOnly(hosts.path), readOnly(key.path)],
    };
  }
  if (!PLAIN_PATH.test(hosts.path)) return oddPath(hosts.path);
  const socket = places.env['SSH_AUTH_SOCK'];
  if (socket === undefined || !lstatSync(socket, { throwIfNoEntry: false })?.isSocket())
    return failed(
      'no-credential',
      'git.credential asks for the ssh agent, and hopgate was started without one (SSH_AUTH_SOCK); ask the operator to start it with one, or to use git.credential: { key: … }.',
    );
  const env = { ...sshEnvironment([...common, 'IdentityAgent=SSH_AUTH_SOCK']), SSH_AUTH_SOCK: socket };
  return {
    ...NOTHING,
    shown: describe(credential),
    env,
    mounts: [readOnly(hosts.path), readOnly(socket)],
    unixSockets: true,
  };
}

/** Neither the user's nor the system's configuration of ssh is read, and nobody is asked anything. */
function sshEnvironment(options: readonly string[]): { readonly [name: string]: string } {
  const all = [
    ...['BatchMode=yes', 'StrictHostKeyChecking=yes', 'UpdateHostKeys=no', 'GlobalKnownHostsFile=/dev/null'],
    ...['ForwardAgent=no', 'ClearAllForwardings=yes', 'PreferredAuthentications=publickey'],
    ...options,
  ];
  return { GIT_SSH_COMMAND: ['ssh -F none', ...all.map((option) => `-o ${option}`)].join(' '), GIT_SSH_VARIANT: 'ssh' };
}

const oddPath = (path: string): Stop =>
  failed(
    'no-credential',
    `ssh cannot be given the path ${path}; ask the operator for one without blanks, quotes, % and $.`,
  );

/** The real path of a file that the operator named, which has to lie where no agent reads or writes. */
function fileOutside({ env, reach }: Places, key: string, stated: string): { readonly path: string } | Stop {
  let path: string;
  try {
    path = realpathSync(stated.replace(/^~(?=\/)/, env['HOME'] || homedir()));
    if (!lstatSync(path).isFile())
      return failed('no-credential', `${key}: ${stated} is not a file; ask the operator to correct it.`);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    return failed(
      'no-credential',
      `${key}: ${stated} cannot be read (${code}); ask the operator to correct hopgate.yaml.`,
    );
  }
  const holder = reach.find((folder) => isWithin(folder, path));
  if (holder === undefined) return { path };
  return failed(
    'credential-in-reach',
    `${key}: ${stated} lies in ${holder}, where agents can get at it; ask the operator to keep it elsewhere.`,
  );
}

/** Where a credential stands; never what it is. */
function describe(credential: GitCredential | undefined): string {
  switch (credential?.kind) {
    case undefined:
      return 'the password in its address (.git/config)';
    case 'env':
      return `git.credential (env ${credential.name})`;
    case 'file':
      return `git.credential (file ${credential.path})`;
    case 'helper':
      return `git.credential (helper ${credential.command[0]})`;
    case 'key':
      return `git.credential (key ${credential.path})`;
    case 'agent':
      return 'git.credential (any key of the ssh agent)';
  }
}
