import type { OpenedProject } from '../project/open-project.ts';
import { type Io, printRemark } from './io.ts';

/** Warns if parts of hopgate.yaml, such as its spec set, are left out because it is not trusted. */
export function printTrustWarning(io: Io, { narrowed, ignored }: OpenedProject): void {
  if (narrowed)
    printRemark(io, `hopgate.yaml is not trusted; left out: ${ignored.join(', ')}. Read it, then run "hopgate trust".`);
}

/** Warns if hopgate.yaml is missing, has untrusted parts, or switches enforcement off. */
export function printConfigWarnings(io: Io, project: OpenedProject): void {
  const { config, configFile } = project;
  printTrustWarning(io, project);
  if (config.enforce === false)
    printRemark(
      io,
      'hopgate.yaml says "enforce: false": masks, protected names and the sandbox still refuse calls; "hopgate report" sums up the other calls that would have been refused.',
    );
  if (configFile === null)
    printRemark(io, 'there is no hopgate.yaml here: no test, deploy or push is configured. "hopgate init" writes one.');
}
