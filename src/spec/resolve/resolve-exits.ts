import type { DefinedSpecNames } from '../check/defined-names.ts';
import type { ReportSpecProblem, SpecPath } from '../check/spec-problem.ts';
import { describeSimilarName, targetOfHopExit } from '../names.ts';
import type { PartiallyParsed } from '../schema/parse-partial.ts';
import type { PeripheralFile } from '../schema/peripheral-file.ts';
import type { Exit, FruitField } from '../types.ts';

type AuthoredExits = NonNullable<PartiallyParsed<PeripheralFile>['exit']>;

/** Resolves `exit`. The exits of a list without destinations open nothing yet. */
export function resolveExits(
  exit: AuthoredExits | undefined,
  fruit: { readonly [field: string]: FruitField },
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): Exit[] {
  if (exit === undefined) return [];
  if (typeof exit === 'string' || Array.isArray(exit)) {
    const names = typeof exit === 'string' ? [exit] : exit;
    return names.flatMap((name, index) => {
      const path = typeof exit === 'string' ? ['exit'] : ['exit', index];
      if (names.indexOf(name) !== index) {
        report(path, `"${name}" is listed twice`, 'keep one of them');
        return [];
      }
      const hop = targetOfHopExit(name);
      if (hop !== null && !defined.peripherals.has(hop)) {
        report(
          path,
          `unknown peripheral "${hop}" in ${name}`,
          describeSimilarName(
            name,
            [...defined.peripherals].map((id) => `hop-${id}`),
          ),
        );
        return [];
      }
      return [{ name, opens: [], implies: impliedValue(name, fruit, path, report), bound: false }];
    });
  }
  return Object.entries(exit).map(([name, destinations]) => ({
    name,
    opens: opensOf(name, destinations, defined, report),
    implies: impliedValue(name, fruit, ['exit', name], report),
    bound: true,
  }));
}

function opensOf(
  name: string,
  destinations: unknown,
  defined: DefinedSpecNames,
  report: ReportSpecProblem,
): { to: string; when: string | null }[] {
  const opens: { to: string; when: string | null }[] = [];
  const list = Array.isArray(destinations) ? destinations : [destinations];
  list.forEach((destination: string | { to?: string; when?: string } | undefined, index) => {
    const path: SpecPath = Array.isArray(destinations) ? ['exit', name, index] : ['exit', name];
    const to = typeof destination === 'string' ? destination : destination?.to;
    if (to === undefined) return;
    const at = typeof destination === 'string' ? path : [...path, 'to'];
    if (!defined.peripherals.has(to))
      report(at, `unknown peripheral "${to}"`, describeSimilarName(to, defined.peripherals));
    else if (opens.some((open) => open.to === to)) report(at, `"${to}" is listed twice`, 'keep one of them');
    else opens.push({ to, when: typeof destination === 'string' ? null : (destination?.when ?? null) });
  });
  const hop = targetOfHopExit(name);
  if (hop !== null && !opens.some(({ to }) => to === hop)) {
    const opened = opens.length > 0 ? `it opens ${opens.map(({ to }) => to).join(', ')}; ` : '';
    report(['exit', name], `${name} does not open "${hop}"`, `${opened}an exit hop-x opens x`);
  }
  return opens;
}

function impliedValue(
  name: string,
  fruit: { readonly [field: string]: FruitField },
  path: SpecPath,
  report: ReportSpecProblem,
): Exit['implies'] {
  const fields = Object.entries(fruit)
    .filter(([, field]) => field.kind === 'observed' && typeof field.type !== 'string' && field.type.includes(name))
    .map(([field]) => field);
  if (fields.length > 1) {
    const rule = fields.map((field) => `fruit.${field.replaceAll('-', '_')} == "${name}"`).join(' && ');
    report(
      path,
      `"${name}" is a value of ${fields.join(' and of ')}`,
      `rename the exit and give it a rule, such as { to, when: '${rule}' }, or rename a value`,
    );
  }
  return fields[0] === undefined ? null : { field: fields[0], value: name };
}
