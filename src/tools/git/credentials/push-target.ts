import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPathWithin } from '../../../base/paths.ts';
import { valueOr } from '../../../base/value-or.ts';
import type { GitConfig } from '../../../spec/types.ts';
import { failedToolStop, outOfScopeStop, type ToolStop } from '../../workspace/tool-stop.ts';
import { type GitConfigValue, gitConfigValuesOf, keysThatRedirectPush } from '../git-config-keys.ts';
import type { GitRepository } from '../repository.ts';

export interface NetworkTarget {
  readonly kind: 'network';
  readonly scheme: 'https' | 'ssh';
  /** The remote's address without a password, and for https without a user name. */
  readonly url: string;
  readonly host: string;
  /** The user and the password in the configured address; null if it contains none. */
  readonly user: { readonly name: string; readonly password: string | null } | null;
}

export type PushTarget = NetworkTarget | { readonly kind: 'local'; readonly url: string; readonly path: string };

const NETWORK =
  /^(?<scheme>ssh|https):\/\/(?:(?<user>[^/@\s]*)@)?(?<rest>(?<host>[\w.-]+|\[[\da-f:.]+\])(?::\d+)?\/.*)$/is;
const SCP_LIKE = /^(?:(?<user>[\w.-]+)@)?(?<host>[\w][\w.-]*):(?!:|\/\/)/;

/**
 * The only address that a push may use: the address in hopgate.yaml, else the address of the configured remote; or a
 * refusal.
 */
export function findPushTarget(
  repository: GitRepository,
  { remote, url: stated }: Pick<GitConfig, 'remote' | 'url'>,
  config: readonly GitConfigValue[],
): PushTarget | ToolStop {
  if (stated !== undefined) return judgeAddress(repository, stated);
  const unclear = keysThatRedirectPush(config);
  if (unclear.length > 0)
    return outOfScopeStop(
      'args',
      `the repository's configuration rewrites where a push goes: ${unclear.join(', ')}`,
      'Ask the operator to remove these keys from .git/config, or to state git.url in hopgate.yaml.',
    );
  const own = gitConfigValuesOf(config, `remote.${remote}.pushurl`);
  const urls = own.length > 0 ? own : gitConfigValuesOf(config, `remote.${remote}.url`);
  const url = urls[0];
  if (url === undefined)
    return failedToolStop(
      'no-such-remote',
      `The repository has no remote "${remote}"; ask the operator to add it, or to correct git.remote in hopgate.yaml.`,
    );
  if (urls.length > 1)
    return outOfScopeStop(
      'args',
      `the remote "${remote}" has several addresses`,
      'Ask the operator to keep only one of them.',
    );
  return judgeAddress(repository, url);
}

function judgeAddress(repository: GitRepository, url: string): PushTarget | ToolStop {
  if (url.includes('::') || url.startsWith('-') || /[\0\r\n]/.test(url)) return notAllowed(url);
  const hasScheme = /^[a-z+.-]+:\/\//i.test(url);
  const found = (hasScheme ? NETWORK : SCP_LIKE).exec(url)?.groups;
  if (found === undefined) return localTarget(repository, url);
  const scheme = found['scheme']?.toLowerCase() === 'https' ? 'https' : 'ssh';
  const host = found['host']!.toLowerCase();
  const user = found['user'] === undefined ? null : splitUser(found['user']);
  if (host.startsWith('-') || user?.name.startsWith('-')) return notAllowed(url);
  const name = scheme === 'ssh' && user !== null ? `${found['user']!.split(':')[0]}@` : '';
  const plain = hasScheme ? `${scheme}://${name}${found['rest']}` : url;
  return { kind: 'network', scheme, url: plain, host, user };
}

function splitUser(text: string): NonNullable<NetworkTarget['user']> {
  const at = text.indexOf(':');
  return {
    name: decodePart(at < 0 ? text : text.slice(0, at)),
    password: at < 0 ? null : decodePart(text.slice(at + 1)),
  };
}

const decodePart = (text: string): string => valueOr(() => decodeURIComponent(text), text);

function localTarget(repository: GitRepository, url: string): PushTarget | ToolStop {
  const isFileUrl = /^file:\/\//i.test(url);
  if (!isFileUrl && /^[a-z+.-]+:\/\//i.test(url)) return notAllowed(url);
  let path: string;
  try {
    path = realpathSync(isFileUrl ? fileURLToPath(url) : resolve(repository.root, url));
  } catch (cause) {
    return failedToolStop(
      'no-such-remote',
      `No repository is at ${url} (${(cause as NodeJS.ErrnoException).code ?? 'not a path'}); ask the operator to correct the remote.`,
    );
  }
  // A repository in a folder that agents write may contain hooks that they wrote.
  if (isPathWithin(repository.root, path) || isPathWithin(path, repository.root))
    return outOfScopeStop('args', `the remote ${url} is inside the work tree`, 'Ask the operator for another remote.');
  return { kind: 'local', url: path, path };
}

function notAllowed(url: string): ToolStop {
  return outOfScopeStop(
    'args',
    `a push to ${url.replace(/\/\/[^/]*@/, '//')} is not allowed`,
    'Ask the operator for a remote with an https or ssh address, or a local path.',
  );
}
