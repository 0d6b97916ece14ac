import type { Api, Idempotency } from '@gantry/http';
import { connectorsWire } from '@gantry/protocol';
import Type from 'typebox';
import type { ConnectorService } from '../messaging/connector-service.ts';
import { changed } from './resources.ts';

const { about, in: body, out } = connectorsWire.methods.resend;
const RESEND = {
  summary: about,
  params: Type.Object({ connectorId: Type.String({ minLength: 1, maxLength: 128 }) }),
  body,
  response: { 202: out },
};

/** The rest follows from the wire. */
export function resendRoute(
  app: Api,
  service: ConnectorService,
  idempotency: Pick<Idempotency, 'once'>,
): void {
  app.post('/v1/host/gantry/connectors/:connectorId(^[^:/]+)::resend', { schema: RESEND }, (request, reply) =>
    changed(request, reply.code(202), idempotency, (caller) =>
      service.resend(caller, request.params.connectorId, request.body.deliveryId),
    ),
  );
}
