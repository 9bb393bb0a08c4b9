import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isWithin } from '../sandbox/layout.ts';
import { failed, outOfScope, type Stop } from '../workspace/outcome.ts';
import { type ConfigValue, configValues, pushKeys } from './judge-config.ts';
import type { Repository } from './repository.ts';

/** Where a push goes. */
export type PushTarget =
  | { readonly kind: 'local'; readonly url: string; readonly path: string }
  | { readonly kind: 'network'; readonly url: string; readonly host: string };

const NETWORK = /^(?:ssh|https):\/\/(?:[^/@\s]*@)?(?<host>[\w.-]+|\[[\da-f:.]+\])(?::\d+)?\//i;
const SCP_LIKE = /^(?:[\w.-]+@)?(?<host>[\w][\w.-]*):(?!:|\/\/)/;

/** The one address that the repository's configuration gives the remote, or why a push there is refused. */
export function pushTarget(repository: Repository, remote: string, config: readonly ConfigValue[]): PushTarget | Stop {
  const unclear = pushKeys(config);
  if (unclear.length > 0)
    return outOfScope(
      'args',
      `the repository's configuration rewrites where a push goes: ${unclear.join(', ')}`,
      'Ask the operator to remove these keys from .git/config.',
    );
  const own = configValues(config, `remote.${remote}.pushurl`);
  const urls = own.length > 0 ? own : configValues(config, `remote.${remote}.url`);
  const url = urls[0];
  if (url === undefined)
    return failed(
      'no-such-remote',
      `The repository has no remote "${remote}"; ask the operator to add it, or to correct git.remote in hopgate.yaml.`,
    );
  if (urls.length > 1)
    return outOfScope('args', `the remote "${remote}" has several addresses`, 'Ask the operator to leave it one.');
  if (url.includes('::') || url.startsWith('-') || /[\0\r\n]/.test(url)) return notAllowed(url);
  const host = (/^[a-z+.-]+:\/\//i.test(url) ? NETWORK : SCP_LIKE).exec(url)?.groups?.['host'];
  if (host !== undefined)
    return host.startsWith('-') ? notAllowed(url) : { kind: 'network', url, host: host.toLowerCase() };
  return localTarget(repository, url);
}

function localTarget(repository: Repository, url: string): PushTarget | Stop {
  const isFileUrl = /^file:\/\//i.test(url);
  if (!isFileUrl && /^[a-z+.-]+:\/\//i.test(url)) return notAllowed(url);
  let path: string;
  try {
    path = realpathSync(isFileUrl ? fileURLToPath(url) : resolve(repository.root, url));
  } catch (cause) {
    return failed(
      'no-such-remote',
      `There is nothing at ${url} (${(cause as NodeJS.ErrnoException).code ?? 'not a path'}); ask the operator to correct the remote.`,
    );
  }
  // A repository that lies where agents write may hold hooks that they wrote.
  if (isWithin(repository.root, path) || isWithin(path, repository.root))
    return outOfScope(
      'args',
      `the remote ${url} lies inside the work tree`,
      'Ask the operator to choose a remote elsewhere.',
    );
  return { kind: 'local', url: path, path };
}

function notAllowed(url: string): Stop {
  return outOfScope(
    'args',
    `a push to ${url} is not allowed`,
    'Ask the operator for a remote with an https or ssh address, or a local path.',
  );
}
