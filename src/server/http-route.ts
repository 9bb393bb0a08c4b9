import { z } from 'zod';
import type { Requester, TokenRole } from './access/tokens.ts';
import type { ApiError } from './api-error.ts';
import { HashSchema, NameSchema } from './schemas.ts';
import type { ServerServices } from './services.ts';

/** Describes an answer that is not one JSON document. */
interface StreamedAnswer {
  readonly type:
    | `text/${'event-stream' | 'plain' | 'html' | 'javascript' | 'css'}`
    | 'websocket'
    | 'application/octet-stream'
    | 'application/json';
  readonly description: string;
}

/** The parameters that an address may have in braces. */
const PATH_PARAMETERS = {
  session: NameSchema.describe('The id of the session.'),
  message: NameSchema.describe('The id of the message.'),
  approval: z.string().regex(/^[a-z2-9]{6}$/),
  grant: NameSchema,
  entry: NameSchema,
  hash: HashSchema,
  agent: z.string().min(1).max(200),
};

type NamesInBraces<Address> = Address extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesInBraces<Rest>
  : never;
type PathOf<Address> = { readonly [Name in NamesInBraces<Address> & keyof typeof PATH_PARAMETERS]: string };

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** A request whose parts fit the route's schemas. */
export interface RouteRequest<Path, Query, Body> {
  readonly who: Requester;
  readonly path: Path;
  readonly query: Parsed<Query>;
  readonly body: Parsed<Body>;
  readonly services: ServerServices;
  /** Aborted if the client is gone, or the server ends. */
  readonly signal: AbortSignal;
  readonly header: (name: string) => string | undefined;
}

/** One address of the server: its schemas, its callers and its function. */
export interface HttpRoute {
  readonly method: 'GET' | 'POST';
  /** Path template, for example `/v1/sessions/{session}/hop`. */
  readonly at: string;
  readonly id: string;
  readonly summary: string;
  /** `public` means that no token is needed. A session's agent reaches only addresses of its own session. */
  readonly for: readonly TokenRole[] | 'public';
  readonly path: z.ZodObject | undefined;
  readonly query: z.ZodObject | undefined;
  readonly body: z.ZodType | undefined;
  /** Optional headers that the route reads, with their meaning. */
  readonly headers?: { readonly [name: string]: string };
  /** Makes the answer to a body that does not fit the schema, in the format of the route's protocol. */
  readonly badBody?: (error: ApiError, text: string) => Response;
  readonly answer: z.ZodType | StreamedAnswer;
  readonly status: 200 | 201;
  /** Returns the answer's value, or a whole Response where `answer` is {@link StreamedAnswer}. */
  readonly run: (request: RouteRequest<object, z.ZodObject, z.ZodType>) => Promise<unknown>;
}

interface RouteParts<Path, Query, Body>
  extends Pick<HttpRoute, 'id' | 'summary' | 'for' | 'headers' | 'badBody' | 'answer'> {
  readonly query?: Query;
  readonly body?: Body;
  readonly status?: 201;
  readonly run: (request: RouteRequest<Path, Query, Body>) => Promise<unknown>;
}

/** Declares a route; its function sees the types of its schemas, and the parameters in its address. */
export function defineRoute<
  const Address extends `${'GET' | 'POST'} /${string}`,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(address: Address, parts: RouteParts<PathOf<Address>, Query, Body>): HttpRoute {
  const [method, at] = address.split(' ') as [HttpRoute['method'], string];
  const names = [...at.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as keyof typeof PATH_PARAMETERS);
  const path =
    names.length === 0 ? undefined : z.object(Object.fromEntries(names.map((name) => [name, PATH_PARAMETERS[name]])));
  const { query, body, status = 200, run } = parts;
  return { ...parts, method, at, path, query, body, status, run: run as HttpRoute['run'] };
}

export const isStreamedAnswer = (answer: HttpRoute['answer']): answer is StreamedAnswer =>
  'description' in answer && 'type' in answer && !('parse' in answer);
