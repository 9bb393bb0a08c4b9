import type { ScopeRule } from '../types.ts';

/** Makes a scope's rule; undefined leaves a limit out. The compiler reports a missing limit. */
export const makeScopeRule = (limits: { readonly [limit in keyof Required<ScopeRule>]: ScopeRule[limit] }): ScopeRule =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as typeof limits;
