import { describeWay } from '../../gate/describe-denial.ts';
import type { Session } from '../../session/session.ts';

const READ_ONLY = /Read-only file system|EROFS/;
const NO_NETWORK =
  /Could not resolve host|Temporary failure in name resolution|Name or service not known|Network is unreachable|EAI_AGAIN|ENETUNREACH/;

/**
 * The lawful way to do what the sandbox's kernel refused a command, judged by the error that the command printed; null
 * if it printed none. Only advice: no decision depends on it.
 */
export function sandboxAdvice(session: Session, output: string): string | null {
  if (READ_ONLY.test(output)) {
    const { way, available } = session.why({ tool: 'write', args: { path: '.', content: '' } }) ?? {};
    if (way && way.length > 0)
      return `hopgate: commands cannot change files in ${available?.peripheral}; the way to where they can: ${describeWay(way)}`;
    return 'hopgate: this command may write only within the scope of this peripheral, and in its own home and temporary folders';
  }
  return NO_NETWORK.test(output)
    ? 'hopgate: this command has no network; ask the operator to run what needs one, or to configure it in hopgate.yaml'
    : null;
}
