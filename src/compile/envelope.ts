import type { PeripheralSpec, ScopeRule, SpecSet, ToolEffect } from '../spec/types.ts';

/** The envelope of a peripheral, as the `meta` of its states and of its lifecycle. */
export type EnvelopeMeta = {
  readonly purpose: string;
  /** The effect of each tool that the peripheral grants. */
  readonly tools: { readonly [tool: string]: ToolEffect };
  readonly scope: ScopeRule & { readonly name: string };
  readonly limits: { readonly steps: number | null; readonly minutes: number | null };
};

export function envelopeOf(
  { tools }: Pick<SpecSet, 'tools'>,
  { purpose, tools: granted, scope, limits }: PeripheralSpec,
): EnvelopeMeta {
  return {
    purpose,
    tools: Object.fromEntries(granted.flatMap((id) => (tools[id] ? [[id, tools[id].effect]] : []))),
    scope: { name: scope.name, ...scope.rule },
    limits,
  };
}
