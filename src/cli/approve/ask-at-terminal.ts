import { createInterface } from 'node:readline';
import { approvalTitle } from '../../gate/approvals/approval-rows.ts';
import { parseTypedAnswer } from '../../operator/grant-terms.ts';
import type { ApprovalRequest } from '../../ports/approver.ts';
import { type Io, paint, print } from '../io.ts';

/** Asks a person: `yes` approves, and words after it make a grant. Returns null if the request stays pending. */
export function askAtTerminal(io: Io, request: ApprovalRequest): Promise<ReturnType<typeof parseTypedAnswer>> {
  const reader = createInterface({ input: io.stdin, output: io.stdout, terminal: false });
  return new Promise((resolve) => {
    reader.once('close', () => resolve(null));
    reader.once('SIGINT', () => reader.close());
    print(io);
    print(io, paint(io, 'dim', 'A grant covers later requests too: yes 3x, yes 2h tests, yes files, yes src/'));
    reader.question(`Approve ${approvalTitle(request)}? [yes / no / Enter: later] `, (answer) => {
      resolve(parseTypedAnswer(answer));
      reader.close();
    });
  });
}
