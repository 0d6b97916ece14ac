/** Errors of the server, with advice for the operator. */
import { OpenwopError } from '@gantry/protocol';
import type { S3Address } from '@gantry/store';
import { codeOf, lost, ofConnecting, refused, ServerError, tlsFault } from '../backend-errors.ts';
import { Late } from './bucket.ts';

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && '$metadata' in error
    ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode
    : undefined;

/** A missing object. A missing bucket also answers 404, but the operator has to fix that. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.name !== 'NoSuchBucket' && statusOf(error) === 404;

const CREDENTIALS = 'Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and their permissions on the bucket.';

const REFUSALS: Readonly<Record<number, string>> = {
  301: 'has the bucket in another region (301). Name that region in the setting.',
  401: `refuses the credentials (401). ${CREDENTIALS}`,
  403: `refuses the credentials, or what is asked with them (403). ${CREDENTIALS}`,
  404: 'has no such bucket (404). Create it, or correct its name in the setting.',
};

export async function asked<T>({ bucket, endpoint }: S3Address, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof OpenwopError) throw cause;
    const server = `S3 at ${endpoint ?? 'https://s3.amazonaws.com'}/${bucket}`;
    throw errorOf(server, cause);
  }
}

/** The codes of Ceph and MinIO for an exhausted bucket quota; Amazon has none. */
const QUOTAS: readonly string[] = ['QuotaExceeded', 'XMinioAdminBucketQuotaExceeded'];

/** Does not fail the start: a cloud machine may get credentials a moment later. */
const NO_CREDENTIALS = 'CredentialsProviderError';
const REASON_MAX = 200;

function errorOf(server: string, cause: unknown): OpenwopError {
  if (cause instanceof Error && QUOTAS.includes(cause.name))
    return new OpenwopError('blob_quota_exhausted', {
      message:
        'The bucket of the objects is full. Delete objects, or ask the operator for a larger bucket quota.',
      cause,
    });
  const refusal = REFUSALS[statusOf(cause) ?? 0];
  if (refusal !== undefined) return refused(server, refusal, cause);
  if (cause instanceof Error && cause.name === NO_CREDENTIALS)
    return new ServerError(
      'storage_unavailable',
      server,
      'cannot be asked: no credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or let the host ' +
        'have them from where the AWS tools look for them.',
      { trouble: 'rejected', cause },
    );
  const fault = tlsFault(cause);
  if (fault !== null)
    return new ServerError('storage_unavailable', server, fault, { trouble: 'rejected', cause });
  return lost(server, reasonOf(cause), cause);
}

function reasonOf(cause: unknown): string {
  if (cause instanceof Late) return cause.message;
  const code = codeOf(cause);
  if (code !== null) return ofConnecting(cause, code);
  if (!(cause instanceof Error)) return 'no answer';
  // The name of most errors is more specific than their text; a bare `Error` has only its text
  return cause.name === 'Error' ? cause.message.slice(0, REASON_MAX) : cause.name;
}
