/** What a server says when it cannot, told so that an operator can act. */
import { OpenwopError } from '@gantry/protocol';
import type { S3Address } from './connect.ts';

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && '$metadata' in error
    ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode
    : undefined;

/** Of an object; a missing bucket also answers 404, but is the operator's to mend. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.name !== 'NoSuchBucket' && statusOf(error) === 404;

export async function asked<T>({ bucket, endpoint }: S3Address, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof OpenwopError) throw cause;
    const reason = cause instanceof Error ? cause.name : 'no answer';
    const error = new OpenwopError('storage_unavailable', {
      message:
        `The bucket ${bucket} at ${endpoint ?? 'Amazon S3'} cannot be used for now (${reason}). Try again later; ` +
        'the operator has to look at the server, the name of the bucket and the credentials.',
    });
    error.cause = cause;
    throw error;
  }
}
