import { gatesOfCall } from '../spec/call-gates.ts';
import type { PeripheralSpec, ScopeRule, SpecSet, ToolEffect, ToolGate } from '../spec/types.ts';

/** The tools and limits of a peripheral, as the `meta` of its states and of its lifecycle machine. */
export type EnvelopeMeta = {
  readonly purpose: string;
  /** The effect of each tool that the peripheral grants. */
  readonly tools: { readonly [tool: string]: ToolEffect };
  /** By tool: the additional needs of each of its calls, such as an approval. Absent if there are none. */
  readonly calls?: { readonly [tool: string]: readonly ToolGate[] };
  readonly scope: ScopeRule & { readonly name: string };
  readonly limits: { readonly steps: number | null; readonly minutes: number | null };
};

export function envelopeOf({ tools }: Pick<SpecSet, 'tools'>, peripheral: PeripheralSpec): EnvelopeMeta {
  const { purpose, scope, limits } = peripheral;
  const toolSpecs = peripheral.tools.flatMap((id) => tools[id] ?? []);
  const calls = toolSpecs
    .map((tool) => [tool.id, gatesOfCall(tool, peripheral)] as const)
    .filter(([, { length }]) => length > 0);
  return {
    purpose,
    tools: Object.fromEntries(toolSpecs.map(({ id, effect }) => [id, effect])),
    ...(calls.length > 0 ? { calls: Object.fromEntries(calls) } : {}),
    scope: { name: scope.name, ...scope.rule },
    limits,
  };
}
