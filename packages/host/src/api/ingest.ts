import { type Api, JSON_TYPE } from '@gantry/http';
import { IngestAnswer, TRIGGER_LIMITS } from '@gantry/protocol';
import Type from 'typebox';
import type { Ingest } from '../triggers/ingest.ts';

const INGEST = {
  summary: 'Send an event to a trigger subscription; its signature is the credential',
  params: Type.Object({ subscriptionId: Type.String({ minLength: 1, maxLength: 128 }) }),
  response: { 202: IngestAnswer },
};
const EMPTY = Buffer.alloc(0);

/** In a separate scope: the body is read as bytes of any type, since the signature covers the bytes. */
export function ingestRoute(app: Api, ingest: Ingest): void {
  void app.register(async (scope: Api) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post(
      '/v1/ingest/:subscriptionId',
      { schema: INGEST, bodyLimit: TRIGGER_LIMITS.maxBodyBytes },
      async ({ params, headers, body }, reply) => {
        const bytes = Buffer.isBuffer(body) ? body : EMPTY;
        const answer = await ingest(params.subscriptionId, { headers, body: bytes });
        void reply.code(202).type(JSON_TYPE);
        return JSON.stringify(answer);
      },
    );
  });
}
