import { type GeneratedTests, generateTests } from './test-specs.ts';

const generated = new Map<string, Promise<GeneratedTests>>();

/** Runs a generated test by the name of the vitest test that calls it, as the files of `hopgate test --emit` do. */
export function generatedTest(
  specs: string,
  group: string,
): (context: { readonly task: { readonly name: string } }) => Promise<void> {
  return async ({ task }) => {
    const known = generated.get(specs) ?? generateTests(specs);
    generated.set(specs, known);
    const { tests } = await known;
    const test = tests.find((each) => each.group === group && each.name === task.name);
    if (!test)
      throw new Error(
        `${specs} yields no test "${task.name}" in ${group} any more: run hopgate test ${specs} --emit again`,
      );
    await test.run();
  };
}
