/**
 * Warnings in responses are a header, since the protocol defines the bodies.
 *
 * Reads of the protocol accept query parameters of other hosts: unknown ones are ignored, and named in the header.
 * The host's own routes refuse unknown parameters.
 */
import { closedObject } from '@gantry/protocol';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

const WARNING = 'gantry-warning';
const NAMES_MAX = 10;
/** Names that may be used in a header unchanged. */
const NAME = /^[\w.-]{1,64}$/;

const isProtocolRead = ({ method, routeOptions }: FastifyRequest): boolean =>
  method === 'GET' &&
  routeOptions.url?.startsWith('/v1/') === true &&
  !routeOptions.url.startsWith('/v1/host/');

const WARNINGS_MAX = 10;
const CHARACTERS_MAX = 2_000;

/** Sentences about probable mistakes of the caller. Names in them come from outside. */
export function warn(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const more = warnings.length - WARNINGS_MAX;
  const told = [...warnings.slice(0, WARNINGS_MAX), ...(more > 0 ? [`${more} more.`] : [])].join(' ');
  void reply.header(WARNING, told.replace(/[^\x20-\x7e]/g, '?').slice(0, CHARACTERS_MAX));
}

const NO_QUERY = closedObject({});

/** For a route of the host that has no query parameters: all are refused. */
export function refuseQuery(route: RouteOptions): void {
  if (!route.url.startsWith('/v1/host/gantry/')) return;
  route.schema = { querystring: NO_QUERY, ...route.schema };
}

export async function ignoreUnknownQuery(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!isProtocolRead(request)) return;
  const schema: unknown = request.routeOptions.schema?.querystring;
  const known = Object.keys(Object(Object(schema).properties));
  const query = request.query as Record<string, unknown>;
  const unknown = Object.keys(query).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  for (const name of unknown) delete query[name];
  const named = unknown.filter((name) => NAME.test(name)).slice(0, NAMES_MAX);
  void reply.header(WARNING, `unknown query parameters ignored: ${named.join(', ')}`);
}
