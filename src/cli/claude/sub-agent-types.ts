import type { SpecSet } from '../../spec/types.ts';

/**
 * Claude Code's option that defines a type of sub-agent for each peripheral that another one delegates to; empty if
 * there is none, or if the user's arguments contain `--agents`.
 */
export function subAgentTypes({ peripherals }: SpecSet, args: readonly string[]): readonly string[] {
  const named = Object.values(peripherals).flatMap(({ delegates = [] }) => delegates.map(({ to }) => to));
  if (named.length === 0 || args.some((word) => word === '--agents' || word.startsWith('--agents='))) return [];
  const types = [...new Set(named)].map((id) => {
    const purpose = peripherals[id]?.purpose ?? '';
    const prompt = `You work in the peripheral ${id}. ${purpose} Do the task that you are given, then report the outcome.`;
    return [id, { description: `Works in the peripheral ${id}: ${purpose}`, prompt }];
  });
  return ['--agents', JSON.stringify(Object.fromEntries(types))];
}
