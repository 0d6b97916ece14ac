/** Documents with an ETag, a cache lifetime, and access from every origin. */

import { hash } from 'node:crypto';
import { notModified, readPayload } from '@gantry/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';

/** For everything that publishing can change. */
const JSON_SECONDS = 300;

/** Schema of a route without parameters that answers an object. */
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
