import { OpenwopError } from '@gantry/protocol';
import { ServerError } from '../backend-errors.ts';
import type { QueuePlace } from '../ports/queue.ts';
import { TENANT_FULL, tooManyGroupsText } from './queue-store.ts';

export const tokenExpired = (): OpenwopError => new OpenwopError('queue_delivery_token_expired');

/** `server`: `NATS at 127.0.0.1:4222`, never with a password. */
export const serverUnavailable = (server: string, rest: string, cause?: unknown): ServerError =>
  new ServerError('queue_backend_unavailable', server, rest, { cause });

export const backendUnavailable = (message: string, cause?: unknown): OpenwopError =>
  new OpenwopError('queue_backend_unavailable', { message, cause });

export const tenantFull = (quotaBytes: number): OpenwopError =>
  new OpenwopError('queue_backend_unavailable', { message: TENANT_FULL, details: { quotaBytes } });

export const tooManyGroups = (groupsMax: number): OpenwopError =>
  new OpenwopError('queue_backend_unavailable', {
    message: tooManyGroupsText(groupsMax),
    details: { groupsMax },
  });

export const tooManyGroupsInAll = (groupsMax: number): OpenwopError =>
  new OpenwopError('queue_backend_unavailable', {
    message:
      `This tenant has ${groupsMax} consumer groups in all its topics, and may have no more. Use one of them; groups ` +
      'that nobody uses go after the time for which messages are kept.',
    details: { groupsMax },
  });

export const tooManyTopics = (topicsMax: number): OpenwopError =>
  new OpenwopError('queue_backend_unavailable', {
    message:
      `This tenant has ${topicsMax} topics, and may have no more. Use one of them; topics that nobody uses go after ` +
      'the time for which messages are kept.',
    details: { topicsMax },
  });

/** For the operator: who else writes there? */
export const foreignBody = (where: string, place: QueuePlace & { readonly tenant: string }): Error =>
  new Error(
    `a body that is no message of this host was taken out of a queue (${where}), and is a dead letter of its topic ` +
      `unless it was one: ${JSON.stringify(place)}. Let nobody else write to the queues of this host.`,
  );

/** For a server that cannot tell a message that is published again from a second one. */
export const unconfirmed = (cause: unknown): OpenwopError =>
  new OpenwopError('effect_in_doubt', {
    message:
      'The queue backend did not say whether it has the message: it was lost, or could not tell. Look at the topic, ' +
      'then fork or start a new run.',
    cause,
  });
