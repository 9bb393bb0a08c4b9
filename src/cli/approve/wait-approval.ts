import { Option } from 'commander';
import { pendingApprover } from '../../operator/pending-approver.ts';
import type { Approver } from '../../ports/approver.ts';
import { ensureStateDir } from '../../project/state-dir.ts';
import { type Io, printRemark } from '../io.ts';
import { wholeNumberParser } from '../shared-options.ts';

/** Makes `--wait-approval SECONDS`, the time for which a command waits until the operator answers its request. */
export const waitApprovalOption = (): Option =>
  new Option(
    '--wait-approval <seconds>',
    'if nobody can be asked here, wait this long for "hopgate approve" in another terminal',
  ).argParser(wholeNumberParser(86_400));

/** Makes an approver that stores requests for the operator. Before a wait, it prints on stderr how to answer. */
export function createWaitingApprover(io: Io, root: string, waitSeconds = 0): Approver {
  return pendingApprover({
    stateDir: ensureStateDir(root, io.env),
    root,
    waitMs: waitSeconds * 1000,
    onPending: (id) => {
      if (waitSeconds > 0)
        printRemark(io, `waiting ${waitSeconds} s for an approval; answer elsewhere with "hopgate approve ${id}"`);
    },
  });
}
