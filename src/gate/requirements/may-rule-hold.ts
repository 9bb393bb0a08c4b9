import type { ASTNode } from '@marcbachmann/cel-js';
import { type CelFacts, evaluateRule, parseRule } from './evaluate-rule.ts';

/** A fact at a later moment: it has its present value, a value from the present one up to a number, or any value. */
export type FactOutlook = 'fixed' | 'open' | number;

/** Maximum number of values of a growing fact to try; a part that compares it with a larger number counts as met. */
const MAX_VALUES = 1000;

/** False if a rule cannot hold at a later moment. Each part that reads open facts counts as met. Pure. */
export function mayRuleHold(
  rule: string,
  facts: CelFacts,
  outlook: (root: string, member: string) => FactOutlook,
): boolean {
  const parsed = parseRule(rule);
  return parsed === null || mayHold(parsed.ast);

  function mayHold(node: ASTNode): boolean {
    if (node.op === '&&') return node.args.every(mayHold);
    if (node.op === '||') return node.args.some(mayHold);
    const text = parsed!.print(node);
    const read = [...text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""').matchAll(FACTS)];
    const known = read.map(([, root, member]) => (member === undefined ? 'open' : outlook(root!, member)));
    const grown = new Set(read.flatMap(([fact], index) => (typeof known[index] === 'number' ? [fact] : [])));
    if (known.includes('open') || grown.size > 1) return true;
    const at = known.findIndex((each) => typeof each === 'number');
    const [, root, member] = read[at] ?? [];
    if (root === undefined || member === undefined) return evaluateRule(text, facts);
    const now = Number(facts[root as keyof CelFacts][member] ?? 0);
    const most = Math.min(Number(known[at]), Math.max(now, ...(text.match(/\d+/g) ?? []).map(Number)) + 1);
    if (most - now > MAX_VALUES || /[%*/+-]/.test(text)) return true;
    return Array.from({ length: Math.max(0, most - now) + 1 }, (_, more) => now + more).some((value) =>
      evaluateRule(text, { ...facts, [root]: { ...facts[root as keyof CelFacts], [member]: value } }),
    );
  }
}

const FACTS = /\b(fruit|session|visit|tests|backpack|visits|args)\b(?:\.(\w+))?/g;
