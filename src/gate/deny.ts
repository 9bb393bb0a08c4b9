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
  return {
    ok: false,
    denial: { code, ...describeDenial(code, about, here, way), about, available: here, way },
    wanted: null,
  };
}
