import { excerpt, shorten } from '../base/text.ts';
import { availableActions } from './available-actions.ts';
import type { Denial, DenialCode, WayLeg } from './denial.ts';
import { describeDenial } from './describe-denial.ts';
import type { GateContext } from './request.ts';

/** The maximum length of a quoted value, and of a reason, in characters. The evidence has the full request. */
const QUOTED = 200;
const REASON = 2000;

/** Builds a denial: adds the available actions to the details, and the message and remedy of the code. */
export function makeDenial(
  { specs, view }: Pick<GateContext, 'specs' | 'view'>,
  code: DenialCode,
  about: Denial['about'],
  way: readonly WayLeg[] | null = null,
): { readonly ok: false; readonly denial: Denial; readonly wanted: null } {
  const here = availableActions(specs, view);
  const words = describeDenial(code, mapTexts(about, quote), here, way);
  return {
    ok: false,
    denial: { code, ...words, about: mapTexts(about, boundText), available: here, way },
    wanted: null,
  };
}

const quote = (text: string, key: string): string =>
  SENTENCE_KEYS.includes(key) ? excerpt(text, REASON) : excerpt(text, QUOTED);
const boundText = (text: string): string => shorten(text, REASON);
/** The details that are sentences written by hopgate; all other details are names or values. */
const SENTENCE_KEYS: readonly string[] = ['why', 'remedy', 'answer', 'problems'];

function mapTexts(about: Denial['about'], change: (text: string, key: string) => string): Denial['about'] {
  return Object.fromEntries(
    Object.entries(about).map(([key, value]) => {
      if (typeof value === 'string') return [key, change(value, key)];
      return [
        key,
        Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? change(item, key) : item)) : value,
      ];
    }),
  );
}
