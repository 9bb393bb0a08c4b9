import type { Project } from '../project/open-project.ts';
import { type Io, note } from './io.ts';

/** Says what a session will miss: what hopgate.yaml states and nobody trusts, or that there is none. */
export function tellOfConfig(io: Io, { narrowed, ignored, configFile }: Project): void {
  if (narrowed)
    note(io, `hopgate.yaml is not trusted; left out: ${ignored.join(', ')}. Read it, then run "hopgate trust".`);
  if (configFile === null)
    note(io, 'there is no hopgate.yaml here: no test, deploy or push is configured. "hopgate init" writes one.');
}
