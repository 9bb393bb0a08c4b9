import type { ToolEffect, ToolSpec } from '../types.ts';
import { ARGUMENT_ROLE_FACTS } from './argument-roles.ts';

interface EffectFacts {
  /** True if a call is recorded before it runs, as an intent, and after it, as an outcome. */
  readonly hasIntent: boolean;
  /** True if a call without observed effects may have changed the working tree. */
  readonly mayChangeTree: boolean;
}

export const TOOL_EFFECT_FACTS: { readonly [effect in ToolEffect]: EffectFacts } = {
  observe: { hasIntent: false, mayChangeTree: false },
  act: { hasIntent: true, mayChangeTree: true },
  coordinate: { hasIntent: false, mayChangeTree: false },
  simulate: { hasIntent: true, mayChangeTree: false },
};

/** True if calls of the tool are recorded before they run. */
export const recordsIntent = (tool: Pick<ToolSpec, 'effect' | 'parameters'> | undefined): boolean =>
  tool !== undefined &&
  (TOOL_EFFECT_FACTS[tool.effect].hasIntent ||
    tool.parameters.some(({ role }) => ARGUMENT_ROLE_FACTS[role].startsAgent));
