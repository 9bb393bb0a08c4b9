import { approveOption } from '../approve/approve-option.ts';
import { waitApprovalOption } from '../approve/wait-approval.ts';
import type { CliCommand } from '../cli-command.ts';
import { inspectOption } from '../inspect/watch-machines.ts';
import { observeOption } from '../shared-options.ts';

/** The options of commands that run a session in this process. */
export interface SessionOptions {
  readonly yes?: boolean;
  readonly approve?: string[];
  readonly observe?: boolean;
  readonly unsafeNoSandbox?: boolean;
  readonly waitApproval?: number;
  readonly inspect?: string | true;
}

export const withSessionOptions = (command: CliCommand): CliCommand =>
  command
    .option('--yes', 'give every approval without asking')
    .addOption(approveOption())
    .addOption(waitApprovalOption())
    .addOption(observeOption())
    .option('--unsafe-no-sandbox', 'run shell tools without a sandbox if none is available; every entry records that')
    .addOption(inspectOption());
