/** Refuses a change with an `If-Match` that its route does not check: it could overwrite another change. */
import { invalid } from '@gantry/protocol';
import type { FastifyRequest } from 'fastify';

export async function refuseUncheckedIfMatch({
  method,
  headers,
  routeOptions: { url, schema },
}: FastifyRequest): Promise<void> {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted === '*' || method === 'GET' || url === undefined) return;
  const known: unknown = Object(schema?.headers).properties;
  if (Object.hasOwn(Object(known), 'if-match')) return;
  throw invalid('This path does not take If-Match. Nothing was changed; leave the header out.', {
    header: 'If-Match',
  });
}
