/** Refusals of queues, for every backend. Threads load this file. */
import { Refusal } from '../../refusal.ts';

export const tokenExpired = (): Refusal => new Refusal('queue_delivery_token_expired');

export const alreadyDead = (): Refusal =>
  new Refusal('validation_error', {
    message:
      'The message is already a dead letter. Acknowledge it, or publish its `original` to another topic.',
  });

export const tenantFull = (quotaBytes: number): Refusal =>
  new Refusal('queue_backend_unavailable', {
    message:
      'The queues of this tenant are full. Acknowledge messages in every group of their topic, or wait until they ' +
      'expire, or ask the operator for a larger quota (GANTRY_QUOTAS).',
    details: { quotaBytes },
  });

export const tooManyGroups = (groupsMax: number): Refusal =>
  new Refusal('queue_backend_unavailable', {
    message: `The topic has ${groupsMax} consumer groups, the maximum. Consume with one of them, or use another topic.`,
    details: { groupsMax },
  });

/** Thrown for an empty lease of a waiting consumer, so that nothing is recorded. */
export const nothingThere = (): Refusal =>
  new Refusal('queue_backend_unavailable', { details: { nothingThere: true } });

/** Also recognizes the error as a database answers it. */
export const isNothingThere = (error: unknown): boolean =>
  error instanceof Error && 'details' in error && Object(error.details).nothingThere === true;
