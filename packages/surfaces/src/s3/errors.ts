/** What a server says when it cannot, told so that an operator can act. */
import { OpenwopError } from '@gantry/protocol';
import { codeOf, refused, ServerError } from '../backend-errors.ts';
import type { S3Address } from './connect.ts';
import { Late } from './deadline.ts';

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && '$metadata' in error
    ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode
    : undefined;

/** Of an object; a missing bucket also answers 404, but is the operator's to mend. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.name !== 'NoSuchBucket' && statusOf(error) === 404;

/** Another region, wrong credentials or too few rights, no such bucket. */
const REFUSALS: readonly (number | undefined)[] = [301, 401, 403, 404];

export async function asked<T>({ bucket, endpoint }: S3Address, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof OpenwopError) throw cause;
    const server = `S3 at ${endpoint ?? 'https://s3.amazonaws.com'}/${bucket}`;
    const error = errorOf(server, cause);
    error.cause = cause;
    throw error;
  }
}

/** How Ceph and MinIO say that the operator's quota of the bucket is used up; Amazon has none. */
const QUOTAS: readonly string[] = ['QuotaExceeded', 'XMinioAdminBucketQuotaExceeded'];

function errorOf(server: string, cause: unknown): OpenwopError {
  if (cause instanceof Error && QUOTAS.includes(cause.name))
    return new OpenwopError('blob_quota_exhausted', {
      message:
        'The bucket of the objects is full. Delete objects, or ask the operator for a larger bucket quota.',
    });
  const status = statusOf(cause);
  if (REFUSALS.includes(status)) {
    const why = `refuses what is asked of it (${status}). Look at its name, its region and the credentials.`;
    return refused('storage_unavailable', server, why);
  }
  const reason = reasonOf(cause);
  return new ServerError(
    'storage_unavailable',
    server,
    `cannot be used for now (${reason}). Try again later; the operator has to look at the server, the name of the ` +
      'bucket and the credentials.',
  );
}

function reasonOf(cause: unknown): string {
  if (cause instanceof Late) return cause.message;
  return codeOf(cause) ?? (cause instanceof Error ? cause.name : 'no answer');
}
