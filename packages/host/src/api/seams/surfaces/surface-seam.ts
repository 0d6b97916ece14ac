/**
 * Methods of surfaces, called through the same gate as by pack code, but outside any run.
 *
 * The suite names its own tenants. They are separate from every real tenant, and from those of other keys.
 */

import { type Api, type Caller, callerOf } from '@gantry/http';
import {
  ERRORS,
  ErrorEnvelope,
  errorEnvelope,
  invalid,
  OpenwopError,
  optional,
  Values,
} from '@gantry/protocol';
import { personCaller } from '@gantry/resources';
import type { Data, DataObject } from '@gantry/surfaces';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import type { Surfaces } from '../../../surfaces/surfaces.ts';
import { seamAt } from '../seam.ts';
import { type Operation, operationOf, SEAM_SURFACES } from './dialect.ts';
import type { MembersOutside } from './outside-runs.ts';
import { WEBHOOKS, type WebhookOperations } from './webhooks.ts';

const Text = Type.String({ minLength: 1, maxLength: 256 });
const Call = Type.Object({
  tenantId: Text,
  surface: Text,
  op: Text,
  args: optional(Values),
});
const Read = Type.Object({ path: Type.String(), tenantId: optional(Text) });
const response = { 200: Type.Unknown(), 400: ErrorEnvelope };

const CALL_MS_MAX = 30_000;
const ITEMS_MAX = 1_000;

type SeamSurfaces = Pick<Surfaces, 'publicUrl'>;
type Ask = (caller: Caller, tenantId: string, operation: Operation, args: DataObject) => Promise<Answer>;
type Answer =
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'refused'; readonly error: OpenwopError };

/** No real tenant has a slash in its name. */
const tenantOf = ({ tenant }: Caller, tenantId: string): string =>
  `${tenant}/seam/${encodeURIComponent(tenantId)}`;

export function surfaceSeams(
  app: Api,
  surfaces: SeamSurfaces,
  outside: MembersOutside,
  webhooks: WebhookOperations,
): void {
  const ask = asking(surfaces, outside);
  app.post(...seamAt('test/surface', { body: Call, response }), async (request, reply) => {
    const caller = callerOf(request);
    const { tenantId, surface, op, args = {} } = request.body;
    if (surface === WEBHOOKS) {
      const person = personCaller({ ...caller, tenant: tenantOf(caller, tenantId) });
      return webhooks(person, op, args);
    }
    const operation = operationOf(surface, op);
    if (!operation) throw unknownSurface(surface);
    return answered(reply, await ask(caller, tenantId, operation, args as DataObject));
  });
  app.post(...seamAt('fs/read', { body: Read, response }), async (request, reply) => {
    const { path, tenantId = 'tenant-a' } = request.body;
    return answered(reply, await ask(callerOf(request), tenantId, operationOf('fs', 'read')!, { path }));
  });
}

const answered = (reply: FastifyReply, asked: Answer): unknown =>
  asked.kind === 'answer' ? asked.answer : reply.code(400).send(errorEnvelope(asked.error));

const unknownSurface = (surface: string): OpenwopError =>
  invalid(`There is no surface "${surface}" here. Use one of ${[...SEAM_SURFACES, WEBHOOKS].join(', ')}.`);

function asking(surfaces: SeamSurfaces, outside: MembersOutside): Ask {
  return async (caller, tenantId, { path, takes, gives, absent }, args) => {
    const signal = AbortSignal.timeout(CALL_MS_MAX);
    const items: Data[] = [];
    const asked = { tenant: tenantOf(caller, tenantId), principal: caller.principal };
    const members = outside(asked, signal);
    const send = async (item: Data): Promise<void> => {
      if (items.push(item) > ITEMS_MAX) throw new OpenwopError('payload_too_large');
    };
    try {
      const taken = takes ? takes(args) : args;
      const called = await members.call(path, [taken], { dispatch: 0, ordinal: 0, signal, send });
      const answer = (called ?? { items }) as DataObject;
      return {
        kind: 'answer',
        answer: written(gives ? gives(answer, taken, await surfaces.publicUrl()) : answer),
      };
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      if (error.code === absent?.code) return { kind: 'answer', answer: absent.answer };
      return refused(error);
    }
  };
}

/** The suite reads 404 as a missing seam, and codes that only nodes get have no status. */
function refused(error: OpenwopError): Answer {
  const { status } = ERRORS[error.code];
  if (status === 0 || status === 404) return { kind: 'refused', error };
  throw error;
}

/** Encodes bytes as base64. */
function written(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, written(member)]));
}
