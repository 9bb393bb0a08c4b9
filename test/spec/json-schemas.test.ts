import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { relativePathProblem } from '../../src/spec/path-patterns.ts';
import { jsonSchemas } from '../../src/spec/schema/json-schemas.ts';
import { RelativePathSchema, WritePathsSchema } from '../../src/spec/schema/path-schema.ts';

const SPEC_FILES = [
  ...['gate', 'tools', 'scopes'].map((name) => ({ file: `specs/${name}.yaml`, schema: `${name}.schema.json` })),
  ...yamlIn('specs/peripherals').map((file) => ({ file, schema: 'peripheral.schema.json' })),
  ...yamlIn('specs/scenarios').map((file) => ({ file, schema: 'scenario.schema.json' })),
];

function yamlIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(folder, name));
}

/** Every object schema's keys that have no description. */
function undescribed(schema: unknown, path = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, ...rest } = schema as { properties?: { [key: string]: { description?: string } } };
  const here = Object.entries(properties ?? {}).filter(([, value]) => value.description === undefined);
  return [
    ...here.map(([key]) => `${path}/${key}`),
    ...Object.entries({ ...properties, ...rest }).flatMap(([key, value]) => undescribed(value, `${path}/${key}`)),
  ];
}

it('the files of specs are found', () => {
  expect(SPEC_FILES.length).toBeGreaterThanOrEqual(9);
});

describe.each(Object.keys(jsonSchemas()))('the JSON Schema %s', (name) => {
  it('equals the committed file', () => {
    expect(`${JSON.stringify(jsonSchemas()[name], null, 2)}\n`).toBe(readFileSync(`specs/schemas/${name}`, 'utf8'));
  });

  it('describes every key', () => {
    expect(undescribed(jsonSchemas()[name])).toEqual([]);
  });
});

it('an editor finds the paths that the loader would refuse', () => {
  const pattern = new RegExp(RelativePathSchema.meta()?.['pattern'] as string, 'u');
  const relative = fc.string({ unit: fc.constantFrom('a', '.', '/', '\\', '~', ' ', ':'), maxLength: 6 });
  fc.assert(
    fc.property(relative, (path) => {
      expect(pattern.test(path)).toBe(relativePathProblem(path) === null);
    }),
    { numRuns: 1000 },
  );
});

it('an editor accepts every write path that the loader accepts', () => {
  const schema = z.toJSONSchema(WritePathsSchema) as { items: { pattern: string } };
  const pattern = new RegExp(schema.items.pattern, 'u');
  const written = fc.string({ unit: fc.constantFrom('a', '.', '/', '!', '*', '~', ' ', '{', ','), maxLength: 6 });
  fc.assert(
    fc.property(written, (path) => {
      if (WritePathsSchema.safeParse(['.', path]).success) expect([path, pattern.test(path)]).toEqual([path, true]);
    }),
    { numRuns: 1000 },
  );
  for (const path of ['../a', '/a', '!!a', '!../a', 'a\\b']) expect([path, pattern.test(path)]).toEqual([path, false]);
});

describe.each(SPEC_FILES)('$file', ({ file, schema }) => {
  const text = readFileSync(file, 'utf8');

  it('names its schema in the first line', () => {
    const target = relative(dirname(file), `specs/schemas/${schema}`);
    expect(text.split('\n')[0]).toBe(`# yaml-language-server: $schema=${target}`);
    expect(basename(target)).toBe(schema);
  });

  it('is valid by its JSON Schema, and invalid with an unknown key', () => {
    const validator = z.fromJSONSchema(jsonSchemas()[schema] as Parameters<typeof z.fromJSONSchema>[0]);
    expect(validator.safeParse(parse(text)).error).toBeUndefined();
    expect(validator.safeParse({ ...parse(text), colour: 'red' }).success).toBe(false);
  });
});
