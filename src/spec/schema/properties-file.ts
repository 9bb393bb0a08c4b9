import { optional, z } from 'zod';
import type { DefinedSpecNames } from '../check/defined-names.ts';
import type { ReportSpecProblem } from '../check/spec-problem.ts';
import { describeSimilarName } from '../names.ts';
import type { PeripheralOrMode, PropertyCondition, SpecProperty } from '../types.ts';
import { SpecNameSchema } from './name-schema.ts';

const Destination = SpecNameSchema.describe('A peripheral, or a mode.');

const Without = z.array(z.string()).describe('The requirements, which must all hold at that moment.');

/** The authored form of `properties.yaml`: the properties that `hopgate check` must prove. */
export const PropertiesFile = z
  .strictObject({
    properties: z
      .array(
        z.strictObject({
          never: optional(
            z.union([
              z.strictObject({ hop: SpecNameSchema.describe('The peripheral that is entered.'), without: Without }),
              z.strictObject({ mode: SpecNameSchema.describe('The mode that is entered.'), without: Without }),
              z.strictObject({
                change: SpecNameSchema.describe('The peripheral that must not be able to change files.'),
              }),
              z.strictObject({ ship: SpecNameSchema.describe('The peripheral that must not be able to ship.') }),
            ]),
          ).describe(
            'A peripheral or mode that is never entered without its requirements, or a peripheral that can never change files or ship.',
          ),
          always: optional(
            z.strictObject({ eventually: SpecNameSchema.describe('The peripheral that stays reachable.') }),
          ).describe('The peripheral can be reached by hops from everywhere.'),
          before: optional(
            z
              // biome-ignore lint/suspicious/noThenProperty: a word of the language, never awaited
              .strictObject({ first: Destination, then: Destination }),
          ).describe('No session reaches `then` before `first`.'),
          exclusive: optional(z.array(SpecNameSchema).min(2, 'needs two names')).describe(
            'Peripherals with no hop between them, or tools that no peripheral has together.',
          ),
        }),
      )
      .describe('The properties, in any order; each has one key.'),
  })
  .describe('Properties that hold for every session under this spec set.');
export type PropertiesFile = z.output<typeof PropertiesFile>;

/** The valid properties of a properties.yaml, and all authored properties, unchecked. */
type Draft = { readonly properties?: readonly unknown[] | undefined; readonly authored: readonly unknown[] };

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** Resolves every name in the properties; each problem at its own path. */
export function resolveProperties(
  file: Draft,
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): readonly SpecProperty[] {
  return (file.properties ?? []).flatMap((raw, index): readonly SpecProperty[] => {
    const at = (...path: string[]) => ['properties', index, ...path];
    const keys = Object.entries(raw as { [kind: string]: unknown }).filter(([, value]) => value !== undefined);
    if (keys.length > 1) {
      report(at(), `it says ${keys.map(([key]) => key).join(' and ')} at once`, 'make two properties of it');
      return [];
    }
    const [kind = '', body] = keys[0] ?? [];
    // Any other property without content had an invalid part that was already reported.
    if (kind === '' && isEmpty(file.authored[index]))
      report(at(), 'is empty', 'write never, always, before or exclusive');
    const text = JSON.stringify(raw);
    const peripheral = (name: unknown, path: string[]): string | null => {
      if (name === undefined) return null; // The schema reports a missing name.
      if (defined.peripherals.has(String(name))) return String(name);
      report(at(...path), `there is no peripheral "${name}"`, describeSimilarName(String(name), defined.peripherals));
      return null;
    };
    const modeNamed = (name: unknown, path: string[]): string | null => {
      if (name === undefined) return null; // The schema reports a missing name.
      if (defined.modes?.includes(String(name))) return String(name);
      if (defined.modes)
        report(at(...path), `there is no mode "${name}"`, describeSimilarName(String(name), defined.modes));
      else report(at(...path), 'this spec set has no gate.yaml, so no modes', 'add one, or leave it out');
      return null;
    };
    const fields = body as { readonly [field: string]: unknown };
    switch (kind) {
      case 'never': {
        for (const what of ['change', 'ship'] as const) {
          if (!(what in fields)) continue;
          const id = peripheral(fields[what], ['never', what]);
          return id === null ? [] : [{ kind: 'never-can', what, peripheral: id, text }];
        }
        const mode = 'mode' in fields;
        if (Array.isArray(fields['without']) && fields['without'].length === 0)
          report(
            at('never', 'without'),
            'an empty list makes this property true in every spec set',
            'name a requirement, such as approval',
          );
        const name = mode ? modeNamed(fields['mode'], ['never', 'mode']) : peripheral(fields['hop'], ['never', 'hop']);
        const without = ((fields['without'] ?? []) as readonly string[]).map((atom, number) =>
          resolveAtom(atom, defined, (message, hint) => report([...at('never', 'without'), number], message, hint)),
        );
        if (name === null || without.some((atom) => atom === null)) return [];
        const target: PeripheralOrMode = mode ? { kind: 'mode', mode: name } : { kind: 'peripheral', peripheral: name };
        return [{ kind: 'never-enter', target, without: without as PropertyCondition[], text }];
      }
      case 'always': {
        const to = peripheral(fields['eventually'], ['always', 'eventually']);
        return to === null ? [] : [{ kind: 'eventually', peripheral: to, text }];
      }
      case 'before': {
        const targetOf = (key: 'first' | 'then'): PeripheralOrMode | null => {
          if (fields[key] === undefined) return null;
          const name = String(fields[key]);
          if (defined.peripherals.has(name)) return { kind: 'peripheral', peripheral: name };
          if (defined.modes?.includes(name)) return { kind: 'mode', mode: name };
          const names = [...defined.peripherals, ...(defined.modes ?? [])];
          report(at('before', key), `there is no peripheral or mode "${name}"`, describeSimilarName(name, names));
          return null;
        };
        const first = targetOf('first');
        const then = targetOf('then');
        return first && then ? [{ kind: 'before', first, then, text }] : [];
      }
      case 'exclusive': {
        const names = (Array.isArray(body) ? body : []).map(String);
        const all = (set: ReadonlySet<string>) => names.every((name) => set.has(name));
        if (all(defined.peripherals)) return [{ kind: 'exclusive', of: 'peripherals', names, text }];
        if (all(defined.tools)) return [{ kind: 'exclusive', of: 'tools', names, text }];
        names.forEach((name, number) => {
          if (defined.peripherals.has(name)) return;
          const hint = defined.tools.has(name)
            ? 'name peripherals only, or tools only'
            : describeSimilarName(name, [...defined.peripherals, ...defined.tools]);
          report([...at('exclusive'), number], `there is no peripheral "${name}"`, hint);
        });
        return [];
      }
      default:
        return [];
    }
  });
}

function resolveAtom(
  atom: string,
  defined: DefinedSpecNames,
  report: (message: string, suggestion: string) => void,
): PropertyCondition | null {
  if (atom === 'approval') return { kind: 'approval' };
  if (defined.modes?.includes(atom)) return { kind: 'mode', mode: atom };
  if (defined.conditions.has(atom)) return { kind: 'condition', name: atom };
  const [id = '', value] = atom.split('.');
  if (value !== undefined && defined.peripherals.has(id)) {
    const values = defined.fruitValues[id] ?? [];
    if (values.includes(value)) return { kind: 'result', peripheral: id, value };
    report(
      `${id} never observes "${value}"`,
      describeSimilarName(
        atom,
        values.map((each) => `${id}.${each}`),
      ),
    );
    return null;
  }
  if (value === undefined && defined.peripherals.has(id)) return { kind: 'visited', peripheral: id };
  const names = ['approval', ...(defined.modes ?? []), ...defined.conditions, ...defined.peripherals];
  const results = Object.entries(defined.fruitValues).flatMap(([name, values]) =>
    values.map((each) => `${name}.${each}`),
  );
  report(`"${atom}" is not a known requirement`, describeSimilarName(atom, [...names, ...results]));
  return null;
}
