import { mapValues } from '../../base/map-values.ts';
import { checkGitConfig } from '../check/check-git.ts';
import { checkUpstreamServers } from '../check/check-upstream.ts';
import type { SpecProblem } from '../check/spec-problem.ts';
import { readYaml } from '../load/read-yaml.ts';
import { specProblemReporter } from '../load/source-document.ts';
import { DEFAULT_MASKS } from '../policy/default-masks.ts';
import { parseValidParts } from '../schema/parse-partial.ts';
import { ProjectFile } from '../schema/project-file.ts';
import { StatedConfig } from '../schema/stated-config.ts';
import type {
  CommandAccess,
  CommandVariables,
  GitCredential,
  InstallCommand,
  ProjectConfig,
  UpstreamServer,
} from '../types.ts';
import type { ParsedSpecs } from './parse-spec-set.ts';

/** The defaults for the keys that `hopgate.yaml` omits. */
export const DEFAULT_PROJECT_CONFIG: ProjectConfig = {
  specs: 'default',
  scopes: {},
  test: [],
  deploy: {},
  git: null,
  web: { allow: [] },
  mask: DEFAULT_MASKS,
  toolchains: [],
};

/** Reads the text of a `hopgate.yaml`. Pure. All problems are reported at once. */
export function parseProjectConfig(text: string, file = 'hopgate.yaml'): ParsedSpecs<'config', ProjectConfig> {
  const { document, problems: found } = readYaml({ file, text });
  const problems: SpecProblem[] = found;
  if (problems.length > 0) return { ok: false, problems };
  const report = specProblemReporter(document, [], problems);
  const authored = parseValidParts(ProjectFile, document.value ?? {}, report);
  // An invalid key was already reported, so it must not be reported as missing.
  if (!problems.some(({ path }) => path.startsWith('git.'))) checkGitConfig(authored?.git ?? {}, report);
  checkUpstreamServers(authored?.upstream ?? {}, report);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, config: resolveConfig(authored as ProjectFile) };
}

/**
 * Reads a config that a program states, without the keys that are undefined. The key `mask` means the same as in
 * hopgate.yaml: the word `default` and a list of exceptions alone include the default list. Pure.
 */
export function parseStatedConfig(config: unknown): ParsedSpecs<'config', Partial<ProjectConfig>> {
  const problems: SpecProblem[] = [];
  const stated = parseValidParts(StatedConfig, config, (path, message, suggestion = null) =>
    problems.push({ file: 'config', path: path.join('.'), message, suggestion }),
  ) as Partial<ProjectConfig>;
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, config: { ...stated, ...(stated.mask === undefined ? {} : { mask: resolveMasks(stated.mask) }) } };
}

function resolveConfig(authored: ProjectFile): ProjectConfig {
  const { scopes, test, install, deploy, git, web, mask, cache, upstream, enforce, ...rest } = authored;
  return {
    ...DEFAULT_PROJECT_CONFIG,
    ...rest,
    scopes: scopes ?? {},
    test: (test ?? []).map(({ run, report = 'none', env, minutes, memory }) => ({
      run,
      report,
      ...resolveEnv(env),
      ...(minutes === undefined ? {} : { minutes }),
      ...(memory === undefined ? {} : { memory }),
    })),
    ...(install === undefined ? {} : { install: resolveInstall(install) }),
    deploy: mapValues(deploy ?? {}, (command) =>
      Array.isArray(command)
        ? { run: command, network: false }
        : { run: command.run, network: command.network ?? false, ...resolveReach(command) },
    ),
    ...resolveGit(git ?? {}),
    web: web ?? DEFAULT_PROJECT_CONFIG.web,
    mask: resolveMasks(mask),
    ...(cache === undefined
      ? {}
      : {
          cache: cache.map((stated) =>
            typeof stated === 'string' ? { folder: stated, read: false } : { folder: stated.read, read: true },
          ),
        }),
    ...(upstream === undefined ? {} : { upstream: mapValues(upstream, resolveServer) }),
    ...(enforce === false ? { enforce } : {}),
  };
}

/** Resolves the key `mask`: `default` or no list means the default list; a list of exceptions alone extends it. */
function resolveMasks(stated: readonly string[] | undefined): readonly string[] {
  if (stated === undefined) return DEFAULT_MASKS;
  const all = stated.length > 0 && stated.every((mask) => mask.startsWith('!')) ? ['default', ...stated] : stated;
  return all.flatMap((mask) => (mask === 'default' ? DEFAULT_MASKS : [mask]));
}

type AuthoredEnv = NonNullable<ProjectFile['test']>[number]['env'];

/** Resolves the key `env` of a command. A name without a value passes the operator's variable of that name. */
function resolveEnv(env: AuthoredEnv): { env?: CommandVariables } {
  if (env === undefined) return {};
  return { env: Array.isArray(env) ? Object.fromEntries(env.map((name) => [name, `\${${name}}`])) : env };
}

function resolveInstall(authored: NonNullable<ProjectFile['install']>): readonly InstallCommand[] {
  const install = Array.isArray(authored) ? { approval: true, commands: authored } : authored;
  const isWords = (entries: typeof install.commands): entries is string[] => typeof entries[0] === 'string';
  const commands = isWords(install.commands) ? [{ run: install.commands }] : (install.commands as AuthoredInstall);
  return commands.map(({ run, scripts = false, approval = install.approval, minutes, ...reach }) => ({
    run,
    scripts,
    approval,
    ...(minutes === undefined ? {} : { minutes }),
    ...resolveReach(reach),
  }));
}

function resolveReach({ env, hosts, secrets, ssh }: AuthoredReach): CommandAccess {
  const login = ssh && { ssh: { key: ssh.key, knownHosts: ssh['known-hosts'] ?? KNOWN_HOSTS } };
  return { ...resolveEnv(env), ...(hosts ? { hosts } : {}), ...(secrets ? { secrets } : {}), ...login };
}

type AuthoredReach = Partial<
  Pick<Extract<NonNullable<ProjectFile['deploy']>[string], { run: unknown }>, 'env' | 'hosts' | 'secrets' | 'ssh'>
>;
type AuthoredInstall = Extract<NonNullable<ProjectFile['install']>, { commands: unknown }>['commands'];
type AuthoredGit = NonNullable<ProjectFile['git']>;

function resolveGit({
  credential,
  remote,
  branch,
  author,
  trailer,
  ...rest
}: AuthoredGit): Pick<ProjectConfig, 'git' | 'commits'> {
  const patterns = typeof branch === 'string' && branch.includes('*') ? [branch] : branch;
  const commits = { ...(author === undefined ? {} : { author }), ...(trailer === undefined ? {} : { trailer }) };
  const login = credential === undefined ? {} : { credential: resolveCredential(credential) };
  return {
    git: remote === undefined || patterns === undefined ? null : { ...rest, remote, branch: patterns, ...login },
    ...(Object.keys(commits).length === 0 ? {} : { commits }),
  };
}

/** The user name that GitHub expects with a token; other services accept any. */
const TOKEN_USER = 'x-access-token';
const KNOWN_HOSTS = '~/.ssh/known_hosts';

function resolveCredential(stated: NonNullable<AuthoredGit['credential']>): GitCredential {
  const { env, file, helper, key, username = TOKEN_USER, 'known-hosts': knownHosts = KNOWN_HOSTS } = stated;
  if (env !== undefined) return { kind: 'env', name: env, username };
  if (file !== undefined) return { kind: 'file', path: file, username };
  if (helper !== undefined) return { kind: 'helper', command: helper };
  return key === undefined ? { kind: 'agent', knownHosts } : { kind: 'key', path: key, knownHosts };
}

type AuthoredServer = NonNullable<ProjectFile['upstream']>[string];

function resolveServer({ command, env, cwd, url, headers, contained = false }: AuthoredServer): UpstreamServer {
  if (url !== undefined) return { url, headers: headers ?? {}, contained };
  return { command: command ?? [], env: env ?? {}, cwd: cwd ?? null, contained };
}
