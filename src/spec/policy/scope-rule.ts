import type { ScopeRule } from '../types.ts';

/** Makes a rule from a value for each limit; undefined leaves one out. The compiler reports a limit without a value. */
export const scopeRule = (limits: { readonly [limit in keyof Required<ScopeRule>]: ScopeRule[limit] }): ScopeRule =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as typeof limits;
