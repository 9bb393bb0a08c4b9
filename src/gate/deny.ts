import type { Denial, DenialCode, WayLeg } from './denial.ts';
import { describeDenial } from './describe-denial.ts';
import type { GateContext } from './request.ts';
import { available } from './ways.ts';

/** A finished denial: its code and data, what is available from here, and the words for both. */
export function deny(
  { specs, view }: Pick<GateContext, 'specs' | 'view'>,
  code: DenialCode,
  about: Denial['about'],
  way: readonly WayLeg[] | null = null,
): { readonly ok: false; readonly denial: Denial; readonly wanted: null } {
  const here = available(specs, view);
  const { message, remedy } = describeDenial(code, about, here, way);
  return {
    ok: false,
    // What was asked is quoted, and may be cut, inside of a character.
    denial: { code, message: message.toWellFormed(), remedy: remedy.toWellFormed(), about, available: here, way },
    wanted: null,
  };
}
