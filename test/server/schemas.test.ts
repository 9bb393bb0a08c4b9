import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RUN_HTTP_STATUS } from '../../src/agency/run-reply.ts';
import { HTTP_STATUS_BY_CODE } from '../../src/server/api-error.ts';
import { makeOpenApiDocument } from '../../src/server/openapi.ts';
import { ROUTES } from '../../src/server/routes.ts';
import { ApiErrorSchema } from '../../src/server/schemas.ts';
import { depth, sample } from '../depth.ts';
import { type Served, serveWorld } from './serve-world.ts';

interface Schema {
  readonly [keyword: string]: unknown;
}

/** Values that fit a JSON Schema, and now and then one that does not. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const junk = fc.jsonValue({ maxDepth: 2 });
  return fc.oneof({ weight: 12, arbitrary: fitting(schema) }, { weight: 1, arbitrary: junk });
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  for (const key of ['anyOf', 'oneOf'])
    if (Array.isArray(schema[key])) return fc.oneof(...(schema[key] as Schema[]).map(fitting));
  switch (schema['type']) {
    case 'string':
      return typeof schema['pattern'] === 'string'
        ? fc.stringMatching(new RegExp(schema['pattern'], 'u'))
        : fc.string({ minLength: Number(schema['minLength'] ?? 0), maxLength: 40, unit: 'grapheme' });
    case 'integer':
    case 'number':
      return fc.integer({
        min: Number(schema['minimum'] ?? -5),
        max: Math.min(Number(schema['maximum'] ?? 50), 5_000),
      });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valuesOf((schema['items'] ?? {}) as Schema), { maxLength: 3 });
    case 'object': {
      const properties = (schema['properties'] ?? {}) as { readonly [name: string]: Schema };
      const required = (schema['required'] ?? []) as string[];
      const record = fc.record(
        Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valuesOf(one)])),
        { requiredKeys: required.filter((name) => name in properties) },
      );
      if (Object.keys(properties).length > 0) return record;
      return fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
    }
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: 'path' | 'query'; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
}

/** A request for an operation; the session and the root are mostly those that exist. */
function requestsFor(served: Served, at: string, { parameters = [], requestBody }: Operation, session: string) {
  const known: { readonly [name: string]: string } = { session, root: served.root };
  const parts = parameters.map(({ name, in: place, schema }) =>
    fc
      .oneof(
        { weight: name in known ? 9 : 0, arbitrary: fc.constant(known[name] as unknown) },
        { weight: 1, arbitrary: valuesOf(schema) },
      )
      .chain((value) =>
        fc.tuple(fc.constant({ name, place, value }), place === 'path' ? fc.constant(true) : fc.boolean()),
      ),
  );
  const body = requestBody ? valuesOf(requestBody.content['application/json'].schema) : fc.constant(undefined);
  return fc.tuple(fc.tuple(...parts), body).map(([values, sent]) => {
    let path = at;
    const query = new URLSearchParams();
    for (const [{ name, place, value }, isSent] of values) {
      const text = (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
      if (place === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(text));
      else if (isSent) query.set(name, text);
    }
    return { path: query.size > 0 ? `${path}?${query}` : path, body: sent };
  });
}

const page = makeOpenApiDocument(ROUTES, '1') as unknown as {
  readonly paths: { readonly [at: string]: { readonly [method: string]: Operation } };
};
const STREAMS = ['sessionEvents', 'sessionSocket', 'allEvents', 'allSocket', 'inboxEvents', 'sessionInboxEvents'];
const operations = Object.entries(page.paths).flatMap(([at, methods]) =>
  Object.entries(methods)
    .filter(([, { operationId }]) => !STREAMS.includes(operationId))
    .map(([method, operation]) => ({ at, method: method.toUpperCase(), operation, id: operation.operationId })),
);

describe('the OpenAPI page', () => {
  it('names every address once, with the parameters in its path', () => {
    expect(operations.length + STREAMS.length).toBe(ROUTES.length);
    expect(new Set(ROUTES.map(({ id }) => id)).size).toBe(ROUTES.length);
    for (const { at, path } of ROUTES)
      expect(Object.keys(path?.shape ?? {}).toSorted()).toEqual(
        [...at.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted(),
      );
  });

  it('has whole numbers in queries, and nothing else counts as a number there', async () => {
    const numbers = Object.values(page.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId: id, parameters = [] }) =>
        parameters
          .filter((each) => each.in === 'query' && each.schema['type'] === 'integer')
          .map(({ name }) => ({ id, name, schema: ROUTES.find((route) => route.id === id)!.query!.shape[name] })),
      );
    expect(numbers.length).toBeGreaterThan(10);
    for (const { id, name, schema } of numbers) {
      expect(z.safeParse(schema, '7').data, `${id} ${name}`).toBe(7);
      for (const text of ['', ' ', ' 7', '7.5', '1e1', '0x7', 'true', '-7', '9'.repeat(20)])
        expect(z.safeParse(schema, text).success, `${id} ${name}=${text}`).toBe(false);
    }
  });

  it('is served to everyone, as OpenAPI 3.1', async () => {
    const served = await serveWorld();
    const { json, status } = await served.ask('GET /v1/openapi.json', { token: null });
    expect(status).toBe(200);
    expect(json.openapi).toBe('3.1.0');
    const references = [...JSON.stringify(json).matchAll(/"\$ref":"([^"]*)"/g)].map(([, to]) => to!);
    expect(references.length).toBeGreaterThan(60);
    for (const to of new Set(references)) {
      const [root, ...steps] = to.split('/').map((step) => step.replaceAll('~1', '/'));
      expect([root, steps.reduce((at, step) => at?.[step], json) === undefined], to).toEqual(['#', false]);
    }
    const parameters = (at: string, method: string) =>
      (json.paths[at][method].parameters ?? []).map(({ name }: { name: string }) => name);
    expect(parameters('/v1/events', 'get')).toContain('Last-Event-ID');
    expect(parameters('/v1/bell', 'post')).toContain('Idempotency-Key');
    expect(Object.keys(json.paths['/v1/socket'].get.responses)).toContain('101');
    expect(
      json.paths['/v1/sessions/{session}/hop'].post.requestBody.content['application/json'].schema.anyOf,
    ).toHaveLength(2);
  });
});

describe('every address', () => {
  it('answers generated requests as its schemas say, and never with a fault', async () => {
    const known = { ...HTTP_STATUS_BY_CODE, ...RUN_HTTP_STATUS };
    const lines: string[] = [];
    const served = await serveWorld({}, { log: (line) => lines.push(line) });
    for (const { at, method, operation, id } of sample(operations, 3)) {
      const { id: session } = await served.session();
      const statuses = new Set<number>();
      await fc.assert(
        fc.asyncProperty(requestsFor(served, at, operation, session), async ({ path, body }) => {
          const answer = await served.ask(
            `${method} ${path}`,
            body === undefined ? {} : { body: JSON.stringify(body) },
          );
          statuses.add(answer.status);
          if (answer.status < 300) return;
          const { error } = ApiErrorSchema.parse(answer.json);
          expect(known[error.code as keyof typeof known], `${id}: ${error.code}`).toBe(answer.status);
          expect(error.remedy).not.toBe('');
          expect(answer.status, `${id} ${path} ${JSON.stringify(body)}: ${lines.at(-1)}`).not.toBe(500);
        }),
        { numRuns: depth(1, 40) },
      );
      expect(statuses.size, id).toBeGreaterThan(0);
    }
    expect(z.array(z.string()).parse(lines)).toEqual([]);
  });
});
