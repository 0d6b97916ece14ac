/** `s3://bucket/prefix?endpoint=https://…&region=…`; credentials come from where the AWS tools look for them. */
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';

export interface S3Address {
  readonly bucket: string;
  /** Ends with a slash unless it is empty. */
  readonly prefix: string;
  /** A server that speaks S3, without a slash at the end; else Amazon's. */
  readonly endpoint?: string;
  readonly region?: string;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Leaves room for tenant, bucket and key within the 1,024 bytes that S3 has for a key. */
const PREFIX_BYTES_MAX = 128;

export function readS3Address(url: URL): S3Address {
  const { hostname: bucket, pathname, searchParams } = url;
  const path = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, '');
  const [endpoint, region] = [searchParams.get('endpoint'), searchParams.get('region')];
  if (!BUCKET.test(bucket)) throw new Error(`"${bucket}" is not the name of an S3 bucket.`);
  if (url.username !== '' || url.password !== '')
    throw new Error(
      'Credentials for S3 belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not into the URL.',
    );
  if (Buffer.byteLength(path) > PREFIX_BYTES_MAX)
    throw new Error(`The prefix of an S3 bucket may have ${PREFIX_BYTES_MAX} bytes at most.`);
  return {
    ...{ bucket, prefix: path === '' ? '' : `${path}/` },
    ...(endpoint !== null && { endpoint: new URL(endpoint).href.replace(/\/+$/, '') }),
    ...(region !== null && { region }),
  };
}

const CONNECT_MS = 3_000;
const REQUEST_MS = 10_000;
const ATTEMPTS_MAX = 2;

/** Loaded when first needed: whoever keeps objects in the data folder pays nothing for it. */
export async function connectS3({ endpoint, region }: S3Address): Promise<{
  client: S3Client;
  sdk: typeof import('@aws-sdk/client-s3');
}> {
  const sdk = await import('@aws-sdk/client-s3');
  const named = region === undefined ? {} : { region };
  // Other servers know neither names of buckets as host names nor the trailing checksums of newer clients
  const custom: S3ClientConfig =
    endpoint === undefined
      ? named
      : { endpoint, forcePathStyle: true, region: region ?? process.env.AWS_REGION ?? 'us-east-1' };
  const client = new sdk.S3Client({
    ...custom,
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      throwOnRequestTimeout: true,
    },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return { client, sdk };
}
