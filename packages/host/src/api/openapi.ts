/** `/v1/openapi.json`, made from the schemas that validate the requests. */

import { hash } from 'node:crypto';
import { type Access, type Api, notModified, type Route, type Routes, readPayload } from '@gantry/http';
import { ErrorEnvelope } from '@gantry/protocol';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import type { HostInfo } from './context.ts';
import { withModels } from './named-schemas.ts';

const ERROR_REF = { $ref: '#/components/schemas/ErrorEnvelope' };
const MUTATING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

const json = (schema: unknown) => ({ 'application/json': { schema } });
const failure = (description: string) => ({ description, content: json(ERROR_REF) });

/** @example headerName('if-match') // 'If-Match' */
const headerName = (name: string): string => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** Each member of an object schema as a parameter. */
function parameters(schema: TSchema | undefined, location: 'path' | 'query' | 'header'): object[] {
  if (schema === undefined || !('properties' in schema)) return [];
  const required = 'required' in schema ? (schema.required as string[]) : [];
  return Object.entries(schema.properties as Record<string, TSchema>).map(([name, property]) => ({
    name: location === 'header' ? headerName(name) : name,
    in: location,
    required: location === 'path' || required.includes(name),
    schema: property,
  }));
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Repeat a request with the same key and body to get its first answer again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Event streams have two representations, metrics are text for Prometheus, and everything else is JSON. */
function content(route: Route, schema: TSchema): object {
  if (route.path.endsWith('/metrics')) return { 'text/plain': { schema } };
  if (!route.path.endsWith('/events')) return json(schema);
  return { 'text/event-stream': { schema: { type: 'string' } }, ...json(schema) };
}

function responses(route: Route): object {
  const answers = Object.entries(route.schema.response ?? {}).map(([status, schema]) => {
    const body = status === '204' ? {} : { content: content(route, schema) };
    return [status, { description: route.schema.summary ?? 'Done', ...body }];
  });
  const guarded = {
    '401': failure('No valid key was sent.'),
    '403': failure('The key lacks the scope that this operation needs.'),
  };
  return {
    ...Object.fromEntries(answers),
    ...(route.access !== 'public' && guarded),
    ...((route.schema.body || route.schema.querystring) && { '400': failure('The request is not valid.') }),
    ...(route.schema.params && { '404': failure('Not found, or not visible to this key.') }),
    default: failure('Any other failure.'),
  };
}

/** `POST /v1/runs/{runId}:pause` becomes `postV1RunsRunIdVerbPause`, which differs from the id of `.../pause`. */
const operationId = ({ method, path }: Route): string => {
  const words = path.replace(':', '/verb/').split(/[^A-Za-z0-9]+/);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
};

function describeAccess(access: Access): object {
  if (access === 'public') return { security: [] };
  if (access === 'token') return { description: 'The token in the path is the credential.', security: [] };
  if (access === 'optional')
    return { description: 'Needs no key; a key may show more.', security: [{}, { bearer: [] }] };
  const scopes = access.map((scope) => `\`${scope}\``).join(', ');
  return { description: `Needs ${scopes}.`, security: [{ bearer: [...access] }] };
}

function operation(route: Route): object {
  const { schema, access, method } = route;
  return {
    operationId: operationId(route),
    ...(schema.summary && { summary: schema.summary }),
    ...describeAccess(access),
    parameters: [
      ...parameters(schema.params, 'path'),
      ...parameters(schema.querystring, 'query'),
      ...parameters(schema.headers, 'header'),
      ...(MUTATING.has(method) ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(schema.body && { requestBody: { required: 'required' in schema.body, content: json(schema.body) } }),
    responses: responses(route),
  };
}

function openapiDocument(info: HostInfo, routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    if (route.method === 'HEAD') continue;
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  // Schemas have members that are not JSON
  const { document, schemas } = withModels(JSON.parse(JSON.stringify({ paths })));
  return {
    openapi: '3.1.0',
    info: { title: 'Gantry, an OpenWOP host', version: info.version },
    // Relative to the address of the document, which a proxy may change
    servers: [{ url: '/' }],
    ...document,
    components: {
      schemas: { ...schemas, ErrorEnvelope },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key of this host.' },
      },
    },
  };
}

/** The document is made at the first request, when all routes are registered. */
export function openapiRoute(app: Api, info: HostInfo, routes: Routes): void {
  let made: { body: string; etag: string } | undefined;
  const document = (): { body: string; etag: string } => {
    const body = JSON.stringify(openapiDocument(info, routes.all));
    return { body, etag: `"${hash('sha256', body, 'hex').slice(0, 32)}"` };
  };
  app.get(
    '/v1/openapi.json',
    {
      schema: {
        summary: 'This document',
        response: {
          200: Type.Object({ openapi: Type.String(), paths: Type.Record(Type.String(), Type.Unknown()) }),
        },
      },
    },
    async (request, reply) => {
      made ??= document();
      void reply.header('cache-control', 'public, max-age=300');
      if (notModified(request, reply, made.etag)) return '';
      return readPayload(request, reply, made.body);
    },
  );
}
