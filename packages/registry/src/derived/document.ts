/** Documents with an ETag, a cache lifetime, and access from every origin. */

import { hash } from 'node:crypto';
import { type Api, notModified, readPayload } from '@gantry/http';
import { Values } from '@gantry/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** For everything that publishing can change. */
const JSON_SECONDS = 300;

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

/** A route without parameters that returns a document. */
export function documentRoute(
  app: Api,
  url: string,
  summary: string,
  make: (request: FastifyRequest) => Promise<Document>,
): void {
  const schema = { summary, response: { 200: Values } };
  app.get(url, { schema }, async (request, reply) => sendDocument(request, reply, await make(request)));
}
