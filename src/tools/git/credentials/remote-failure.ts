import { operatorProxyRemedy } from '../../proxy/upstream-proxy.ts';
import type { NetworkTarget } from './push-target.ts';

/** An error code and a message with the remedy for a remote that could not be used. */
interface RemoteFailure {
  readonly code:
    | 'no-credential'
    | 'authentication-failed'
    | 'unknown-host-key'
    | 'redirected'
    | 'remote-unreachable'
    | 'untrusted-certificate';
  readonly message: string;
}

const ASKS = /could not read (?:Username|Password)|terminal prompts disabled|unable to get password from user/;
const DENIES =
  /Authentication failed|returned error: 40[13]|Permission denied \(|Permission to .{1,300} denied|denied to |Load key |Too many authentication failures|access denied/i;
const HOST_KEY = /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/;
const REDIRECTS = /returned error: 30[1278]|redirect/i;
const CERTIFICATE = /SSL certificate problem|server certificate verification failed|certificate subject name/i;

const UNREACHED = /Proxy CONNECT|CONNECT tunnel|proxy after CONNECT|Failed to connect|Could not resolve/i;

/** Lines that git prints after each failed connection, below the reason. */
const AFTER_REASON =
  /^(?:fatal: )?(?:Could not read from remote repository|Please make sure you have the|and the repository)/;

/** The line of stderr that says why git could not reach a remote. */
export function reasonInStderr(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !AFTER_REASON.test(line));
  return lines.at(-1)?.trim().replace(/\.$/, '') ?? 'no reason was given';
}

/**
 * Translates an error of git or ssh into a remedy; null if the operator's configuration cannot fix it.
 * @param stderr without secrets
 * @param shown where the presented credential is configured; null if none was presented
 * @param via the operator's proxy as `host:port`; null if git connects directly
 */
export function remedyOfRemoteFailure(
  stderr: string,
  { url, scheme, host }: NetworkTarget,
  shown: string | null,
  via: string | null,
): RemoteFailure | null {
  if (via !== null && UNREACHED.test(stderr))
    return {
      code: 'remote-unreachable',
      message: `The proxy ${via} did not connect to ${host} (${reasonInStderr(stderr)}); ${operatorProxyRemedy(host)}.`,
    };
  if (HOST_KEY.test(stderr))
    return {
      code: 'unknown-host-key',
      message: `known-hosts has another key for ${host}, or none; ask the operator to check it and to correct that file.`,
    };
  if (CERTIFICATE.test(stderr))
    return {
      code: 'untrusted-certificate',
      message: `The certificate of ${host} is not trusted; ask the operator to check it, and to state git.ca in hopgate.yaml if a private authority signed it.`,
    };
  if (scheme === 'https' && REDIRECTS.test(stderr))
    return {
      code: 'redirected',
      message: `${url} redirects to another address, and a push follows no redirect; ask the operator to state the final address as git.url in hopgate.yaml.`,
    };
  if (!ASKS.test(stderr) && !DENIES.test(stderr)) return null;
  if (shown === null)
    return {
      code: 'no-credential',
      message: `${host} asks for a credential, and none is configured; ask the operator to set git.url and git.credential: { env: NAME } in hopgate.yaml, and to trust the file ("hopgate trust").`,
    };
  return {
    code: 'authentication-failed',
    message: `${host} does not accept ${shown} for this push; ask the operator to fix it. A retry does not help.`,
  };
}
