import { getOrInsert } from '../../base/get-or-insert.ts';
import type { SpecSet } from '../../spec/types.ts';

const known = new WeakMap<SpecSet, string>();
const readingDenials = new WeakMap<SpecSet, boolean>();

/** The character between the rules in the result of {@link joinCelRules}; no rule contains it. */
export const CEL_RULE_SEPARATOR = '\0';

export const joinCelRules = (specs: SpecSet): string => getOrInsert(known, specs, () => joinRules(specs));

const joinRules = ({ conditions, edges, tools, peripherals }: SpecSet): string =>
  [
    ...[
      ...Object.values(tools).map(({ gates = [] }) => gates),
      ...Object.values(peripherals).flatMap(({ calls = {} }) => Object.values(calls)),
    ].flatMap((gates) => gates.flatMap((gate) => (gate.kind === 'when' ? [gate.cel] : []))),
    ...Object.values(conditions),
    ...new Set(
      edges.flatMap(({ when, gates }) => [
        ...(when === null ? [] : [when]),
        ...gates.flatMap((gate) => (gate.kind === 'when' ? [gate.cel] : [])),
      ]),
    ),
  ].join(CEL_RULE_SEPARATOR);

/** True if a rule reads how many requests were refused, so that a refused request changes what is allowed later. */
export const doRulesReadDenials = (specs: SpecSet): boolean =>
  getOrInsert(readingDenials, specs, () => {
    const fields = Object.values(specs.peripherals).flatMap(({ fruit }) =>
      Object.entries(fruit).flatMap(([field, rule]) =>
        rule.kind === 'observed' && rule.from === 'refusals' ? [field.replaceAll('-', '_')] : [],
      ),
    );
    return new RegExp(`\\b(${['denials', ...fields].join('|')})\\b`).test(joinCelRules(specs));
  });
