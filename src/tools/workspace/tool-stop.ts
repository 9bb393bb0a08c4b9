import { existsSync } from 'node:fs';
import type { ArgumentRefusal } from '../../gate/commands/argument-refusal.ts';
import type { ToolOutcome } from '../../ports/tool-backend.ts';
import { invalidCall } from '../tool-outcomes.ts';

/** Early end of a tool as a value, which the backend reports. */
export interface ToolStop {
  readonly stop: Exclude<ToolOutcome, { status: 'ok' }>;
}

/** Failure of a tool; `message` contains the remedy. */
export const failedToolStop = (code: string, message: string): ToolStop => ({
  stop: { status: 'failed', code, message },
});

/** The failure of a call whose repository was moved or deleted; null if its folder exists. */
export const missingRootStop = (root: string): ToolStop | null =>
  existsSync(root)
    ? null
    : failedToolStop(
        'no-root',
        `The folder of the repository, ${root}, no longer exists. Ask the operator to move it back; a new folder needs a new session.`,
      );

export const outOfScopeStop = (argument: string, message: string, remedy: string): ToolStop => ({
  stop: { status: 'refused', code: 'out-of-scope', argument, message, remedy },
});

export const invalidArgumentStop = (argument: string, message: string, remedy: string): ToolStop => ({
  stop: invalidCall(argument, message, remedy),
});

export const sandboxFailedStop = (message: string, remedy: string): ToolStop => ({
  stop: { status: 'refused', code: 'sandbox-unavailable', message, remedy },
});

/** The refusal of a command on a machine that cannot sandbox it, with the reason and remedy of the sandbox. */
export const unavailableToolStop = ({
  reason,
  remedy,
}: {
  readonly reason: string;
  readonly remedy: string;
}): ToolStop => sandboxFailedStop(`This machine cannot sandbox commands: ${reason}.`, `Ask the operator to ${remedy}.`);

/** A refusal of an argument that makes a command line longer than the system allows; null for any other error. */
export function tooLongCommandStop(error: unknown, argument: string, remedy: string): ToolStop | null {
  if (![error, (error as Error).cause].some((each) => (each as NodeJS.ErrnoException | undefined)?.code === 'E2BIG'))
    return null;
  return invalidArgumentStop(argument, 'The command line is too long for this machine.', remedy);
}

export const isStop = (value: object): value is ToolStop => 'stop' in value;

/** The refusal of a call whose argument the gate's rule does not allow. */
export const refusalStop = ({ refusal }: ArgumentRefusal): ToolStop => ({ stop: { status: 'refused', ...refusal } });
