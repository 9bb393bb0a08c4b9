import { isObject } from '../../../base/json.ts';
import type { Session } from '../../../session/session.ts';
import type { HopOptions, SeedHop } from '../../../session/seed-hop.ts';
import type { Json, Mode } from '../../../spec/types.ts';

/** What a mode change is asked with. */
export type ModeArguments = Parameters<Session['setMode']>[0];

export type ModelArguments = { readonly [name: string]: Json };

/** What a model gave as arguments, as an object; of what is none, nothing. */
export const argumentsOf = (input: unknown): ModelArguments =>
  isObject(input)
    ? (Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as ModelArguments)
    : {};

/**
 * A hop as a model asks for it, in our form or in the seeds' `{"hop": …, "reason": …}`. Only what an agent may say: who asks is never taken from
 * its text.
 */
export function hopOf({ to, hop, exit, reason, summary, fruit }: ModelArguments): HopOptions | SeedHop {
  const said = { reason: reason ?? '', ...(exit === undefined || exit === null ? {} : { exit }) };
  return (
    hop === undefined || hop === null
      ? { ...said, to: to ?? '', ...(fruit === undefined || fruit === null ? {} : { fruit }) }
      : { ...said, hop, ...(summary === undefined || summary === null ? {} : { summary }) }
  ) as HopOptions | SeedHop;
}

/** A mode change as a model asks for it. A reset is the operator's, and cannot be asked for. */
export function modeOf({ to, reason, summary, 'exit-criteria': exitCriteria }: ModelArguments): ModeArguments {
  return {
    to: (to ?? '') as Mode,
    ...(reason === undefined ? {} : { reason: reason as string }),
    ...(summary === undefined ? {} : { summary: summary as string }),
    ...(exitCriteria === undefined ? {} : { exitCriteria: exitCriteria as string }),
  };
}
