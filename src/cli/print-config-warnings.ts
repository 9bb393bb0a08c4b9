import type { Project } from '../project/open-project.ts';
import { type Io, printRemark } from './io.ts';

/** Warns about configuration that a session lacks: untrusted parts of hopgate.yaml, or a missing hopgate.yaml. */
export function printConfigWarnings(io: Io, { config, narrowed, ignored, configFile }: Project): void {
  if (narrowed)
    printRemark(io, `hopgate.yaml is not trusted; left out: ${ignored.join(', ')}. Read it, then run "hopgate trust".`);
  if (config.enforce === false)
    printRemark(
      io,
      'hopgate.yaml says "enforce: false": no call is refused; "hopgate report" sums up what would have been.',
    );
  if (configFile === null)
    printRemark(io, 'there is no hopgate.yaml here: no test, deploy or push is configured. "hopgate init" writes one.');
}
