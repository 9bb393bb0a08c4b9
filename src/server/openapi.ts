import { z } from 'zod';
import { HTTP_STATUS_BY_CODE } from './api-error.ts';
import { type HttpRoute, isStreamedAnswer } from './http-route.ts';
import { ApiErrorSchema } from './schemas.ts';

type Document = { readonly [field: string]: unknown };

type Schemas = { [name: string]: unknown };

/** True for the schema of any JSON value. It is replaced: generators of clients cannot name a recursive type. */
const isAnyJson = ({ anyOf }: Document): boolean =>
  // text, number, boolean, null, list, object
  Array.isArray(anyOf) && anyOf.length === 6;
const ANY: Document = { description: 'Any JSON value.' };
const DEFS = '#/$defs/';
const COMPONENTS = '#/components/schemas/';

/** Makes the JSON schema of a part of an operation. The definitions inside of a schema become components. */
type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => Document;

function schemasOf(components: Schemas, prefix: string): SchemaOf {
  return (schema, io) => {
    const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Document;
    const definitions = $defs as { readonly [name: string]: Document };
    const ownName = (name: string) => `${prefix}${io === 'input' ? 'In' : 'Out'}${name.replace(/^_*schema/, '')}`;
    const names = new Map(
      Object.entries(definitions).map(([name, one]) => [name, isAnyJson(one) ? 'Json' : ownName(name)]),
    );
    const moved = (value: Document): Document =>
      JSON.parse(JSON.stringify(value), (key, part: unknown) =>
        key === '$ref' && typeof part === 'string' && part.startsWith(DEFS)
          ? `${COMPONENTS}${names.get(part.slice(DEFS.length))}`
          : part,
      ) as Document;
    for (const [name, one] of Object.entries(definitions))
      components[names.get(name)!] = isAnyJson(one) ? ANY : moved(one);
    return moved(rest);
  };
}

/** The OpenAPI 3.1 page of the routes. It is generated, so that it cannot differ from what the server checks. */
export function makeOpenApiDocument(routes: readonly HttpRoute[], version: string): Document {
  const schemas: Schemas = { Failure: schemasOf({}, '')(ApiErrorSchema, 'output') };
  const paths: { [at: string]: { [method: string]: Document } } = {};
  for (const route of routes) {
    paths[route.at] ??= {};
    paths[route.at]![route.method.toLowerCase()] = operationOf(route, schemasOf(schemas, route.id));
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'hopgate',
      version,
      description:
        'The sessions of agents: what they may do, what they did, and what they wait for. A refusal by the gate is an answer with status 200 and `ok: false`.',
    },
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token of a role, or the token that the answer to the opening of a session contains.',
        },
      },
    },
  };
}

function operationOf(route: HttpRoute, schemaOf: SchemaOf): Document {
  const { id, summary, path, query, body, answer } = route;
  const isSocket = isStreamedAnswer(answer) && answer.type === 'websocket';
  const parameters = [
    ...parametersOf(schemaOf, path, 'path'),
    ...parametersOf(schemaOf, query, 'query'),
    ...headersOf(route),
  ];
  return {
    operationId: id,
    summary,
    ...(route.for === 'public' ? {} : { security: [{ bearer: [...route.for] }] }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body, 'input') } } } }
      : {}),
    responses: { [isSocket ? 101 : route.status]: answerOf(route, schemaOf), default: failure },
  };
}

const codes = Object.entries(HTTP_STATUS_BY_CODE)
  .map(([code, status]) => `${code} (${status})`)
  .join(', ');
const failure: Document = {
  description: `An error, one of: ${codes}.`,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
};

function answerOf({ answer, summary }: HttpRoute, schemaOf: SchemaOf): Document {
  if (!isStreamedAnswer(answer))
    return { description: summary, content: { 'application/json': { schema: schemaOf(answer, 'output') } } };
  const { type, description } = answer;
  if (type === 'websocket') return { description };
  return { description, content: { [type]: { schema: { type: type === 'application/json' ? 'object' : 'string' } } } };
}

const LAST_EVENT_ID = { 'Last-Event-ID': 'The id of the last event that you have; the stream continues after it.' };

function headersOf({ headers = {}, answer }: HttpRoute): readonly Document[] {
  const all =
    isStreamedAnswer(answer) && answer.type === 'text/event-stream' ? { ...LAST_EVENT_ID, ...headers } : headers;
  return Object.entries(all).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

function parametersOf(
  schemaOf: SchemaOf,
  schema: z.ZodObject | undefined,
  location: 'path' | 'query',
): readonly Document[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    readonly properties?: { readonly [name: string]: Document };
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}
