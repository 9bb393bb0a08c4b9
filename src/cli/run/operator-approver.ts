import { confirm, isCancel } from '@clack/prompts';
import { approvalTitle } from '../../gate/approvals/approval-rows.ts';
import { approverInAdvance, fallbackApprover } from '../../operator/fallback-approver.ts';
import { askHereOrElsewhere } from '../../operator/pending-approver.ts';
import type { ApprovalRequest, Approver } from '../../ports/approver.ts';
import { ensureStateDir } from '../../project/state-dir.ts';
import { showApprovalRequest } from '../approve/show-request.ts';
import { type Io, print, printRemark } from '../io.ts';

/** The sources of answers to approval requests, other than a person at the terminal. */
interface OperatorOptions {
  readonly yes: boolean;
  /** The destinations, modes and tools that `--approve` names. */
  readonly approve: readonly string[];
  /** The scenario's answer for the current step; null if it has none. */
  readonly scripted?: () => 'given' | 'refused' | null;
  /** The approver that is asked if there is no terminal. */
  readonly fallback?: Approver;
  readonly root: string;
  /** Asks a yes-or-no question on the terminal. Default: a prompt. */
  readonly confirm?: (question: string, signal: AbortSignal) => Promise<boolean>;
}

/**
 * The approver of commands. It asks in this order: `--yes` and `--approve`; a person at the terminal; without a
 * terminal, the scenario's answer, then `fallback`. Without any answer the approval is not given.
 */
export function createOperatorApprover(io: Io, options: OperatorOptions): Approver {
  const inAdvance = approverInAdvance(options.yes ? ['all'] : options.approve);
  const terminal = () =>
    askHereOrElsewhere(
      'terminal',
      {
        stateDir: ensureStateDir(options.root, io.env),
        root: options.root,
        onPending: (id) => printRemark(io, `you can also answer in another terminal: hopgate approve ${id}`),
      },
      (request, signal) => ask(io, request, options, signal),
    );
  const scripted: Approver = {
    via: 'approver',
    approve: async () => (options.scripted?.() === 'given' ? { by: 'operator' } : null),
  };
  const { fallback } = options;
  // A refusal in the scenario is an answer, so `fallback` is not asked.
  const unanswered: Approver | undefined = fallback && {
    via: fallback.via,
    approve: async (request) => (options.scripted?.() === 'refused' ? null : fallback.approve(request)),
  };
  const withoutTerminal = unanswered ? fallbackApprover(scripted, unanswered) : scripted;
  return fallbackApprover(inAdvance, canAskPerson(io) ? terminal() : withoutTerminal);
}

export const canAskPerson = (io: Io): boolean => io.isTty && io.env['CI'] === undefined;

async function ask(
  io: Io,
  request: ApprovalRequest,
  { root, confirm: confirmed = promptFor }: OperatorOptions,
  signal: AbortSignal,
): Promise<boolean> {
  print(io);
  await showApprovalRequest(io, request, root);
  return confirmed(`Approve ${approvalTitle(request)}?`, signal);
}

async function promptFor(message: string, signal: AbortSignal): Promise<boolean> {
  const answer = await confirm({ message, initialValue: false, signal });
  return !isCancel(answer) && answer;
}
