import type { Api, Idempotency } from '@gantry/http';
import { deadLettersWire } from '@gantry/protocol';
import Type from 'typebox';
import type { DeadLetterService } from '../dead-letters/dead-letter-service.ts';
import { changed, resourceRoutes } from './resources.ts';

const { about, in: body, out } = deadLettersWire.methods.retry;
const RETRY = {
  summary: about,
  params: Type.Object({ deadLetterId: Type.String({ minLength: 1, maxLength: 128 }) }),
  body,
  response: { 202: out },
};

export function deadLetterRoutes(app: Api, service: DeadLetterService, idempotency: Idempotency): void {
  resourceRoutes(app, deadLettersWire, service, idempotency);
  app.post(
    '/v1/host/gantry/dead-letters/:deadLetterId(^[^:/]+)::retry',
    { schema: RETRY },
    (request, reply) =>
      changed(request, reply.code(202), idempotency, (caller) =>
        service.retry(caller, request.params.deadLetterId),
      ),
  );
}
