import { isObject } from '../../../base/json.ts';
import type { Session } from '../../../session/session.ts';
import type { HopOptions, ShortHop } from '../../../session/short-hop.ts';
import { type ModeChange, shortestModePath } from '../../../spec/mode-way.ts';
import type { Fields, Mode } from '../../../spec/types.ts';

export type ModeCallArguments = Parameters<Session['setMode']>[0];

export type ModelCallArguments = Fields;

/** The model's arguments as an object; empty if they are not an object. */
export const readCallArguments = (input: unknown): ModelCallArguments =>
  isObject(input)
    ? (Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as ModelCallArguments)
    : {};

/**
 * The hop that a model requests, in the full form or the short one, `{"hop": …, "reason": …}`. Reads only fields that
 * an agent may set; the requester's identity never comes from the text.
 */
export function readRequestedHop({ to, hop, exit, reason, summary, fruit }: ModelCallArguments): HopOptions | ShortHop {
  const common = { reason: reason ?? '', ...(exit === undefined || exit === null ? {} : { exit }) };
  return (
    hop === undefined || hop === null
      ? { ...common, to: to ?? '', ...(fruit === undefined || fruit === null ? {} : { fruit }) }
      : { ...common, hop, ...(summary === undefined || summary === null ? {} : { summary }) }
  ) as HopOptions | ShortHop;
}

/** The mode changes to the mode that a hop's field `mode` requests; if no path leads there, the refused change. */
export function requestedModeChanges(
  fields: ModelCallArguments,
  { specs, state }: Session,
): readonly (ModeChange & ModeCallArguments)[] {
  const { mode: requested } = fields;
  const from = state.mode;
  if (requested === undefined || requested === null || from === null || requested === from) return [];
  const path = shortestModePath(specs, from, (mode) => mode === requested) ?? [{ from, to: requested as Mode }];
  return path.map((leg) => ({ ...readRequestedMode({ ...fields, to: leg.to }), from: leg.from }));
}

/**
 * The mode changes to make before a hop; see `requestedModeChanges`. Empty if the hop would be refused for the same
 * reason even after these changes: a hop that cannot succeed must not change the mode or ask a person.
 */
export async function modeChangesBeforeHop(
  fields: ModelCallArguments,
  session: Session,
  hop: HopOptions | ShortHop = readRequestedHop(fields),
): Promise<ReturnType<typeof requestedModeChanges>> {
  const modes = requestedModeChanges(fields, session);
  const last = modes.at(-1);
  if (last === undefined || session.state.peripheral === null) return modes;
  const after = await session.whyMove({ hop }, last.to);
  if (after === null || after.code === 'approval-required') return modes;
  return (await session.whyMove({ hop }))?.code === after.code ? [] : modes;
}

/** The mode change that a model requests. A model cannot request a reset, because only the operator may reset. */
export function readRequestedMode({
  to,
  reason,
  summary,
  'exit-criteria': exitCriteria,
}: ModelCallArguments): ModeCallArguments {
  return { to: to ?? '', reason, summary, exitCriteria } as ModeCallArguments;
}
