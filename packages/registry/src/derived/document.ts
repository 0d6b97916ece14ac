/** Documents as they leave: with a validator, a lifetime for caches, and open to every origin. */

import { hash } from 'node:crypto';
import { notModified, readPayload } from '@gantry/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';

/** Everything that publishing changes; archives and signatures never change and live longer. */
const JSON_SECONDS = 300;

/** What the OpenAPI document says of a route that takes nothing and answers an object. */
export const documented = (summary: string) => ({
  summary,
  response: { 200: Type.Record(Type.String(), Type.Unknown()) },
});

export interface Document {
  readonly text: string;
  readonly etag: string;
}

export const documentOf = (value: unknown): Document => textDocument(JSON.stringify(value));

export const textDocument = (text: string): Document => ({
  text,
  etag: `"${hash('sha256', text, 'base64url')}"`,
});

/** `undefined` is the empty payload of a 304. */
export async function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document,
): Promise<string | Buffer | undefined> {
  void reply
    .header('cache-control', `public, max-age=${JSON_SECONDS}`)
    .header('access-control-allow-origin', '*')
    .header('access-control-expose-headers', 'ETag');
  if (notModified(request, reply, document.etag)) return undefined;
  return readPayload(request, reply, document.text);
}
