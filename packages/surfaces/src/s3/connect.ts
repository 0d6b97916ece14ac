/** `s3://bucket/prefix?endpoint=https://…&region=…`; credentials come from where the AWS tools look for them. */

import { hash } from 'node:crypto';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { inTime } from '../deadline.ts';
import type { BlobPlace } from '../ports/blobs.ts';

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

const EXAMPLE = 's3://bucket/prefix?endpoint=https://minio.example.org:9000&region=eu-west-1';
const REGION = /^[a-z0-9-]{1,64}$/;

/** Never repeats what it was given: it may hold a password. */
export function readS3Address(url: URL): S3Address {
  const { hostname: bucket, searchParams } = url;
  const [endpoint, region] = [searchParams.get('endpoint'), searchParams.get('region')];
  if (!BUCKET.test(bucket)) throw wrong('The bucket is not a name that S3 knows for one');
  if (url.username !== '' || url.password !== '')
    throw new Error(
      'Credentials for S3 belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not into the URL.',
    );
  if ([...searchParams.keys()].some((name) => name !== 'endpoint' && name !== 'region'))
    throw wrong('Only `endpoint` and `region` may stand behind the question mark');
  if (region !== null && !REGION.test(region)) throw wrong('The `region` is not the name of one');
  const path = prefixOf(url);
  return {
    bucket,
    prefix: path === '' ? '' : `${path}/`,
    ...(endpoint !== null && { endpoint: endpointOf(endpoint) }),
    ...(region !== null && { region }),
  };
}

const wrong = (problem: string): Error => new Error(`${problem}. Write it as in ${EXAMPLE}.`);

function prefixOf({ pathname }: URL): string {
  let path: string;
  try {
    path = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, '');
  } catch {
    throw wrong('The prefix has a % that is no escape; a % itself is %25');
  }
  if (Buffer.byteLength(path) > PREFIX_BYTES_MAX)
    throw new Error(`The prefix of an S3 bucket may have ${PREFIX_BYTES_MAX} bytes at most.`);
  return path;
}

function endpointOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  const isPlain =
    url && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}` === '';
  if (!isPlain) throw wrong('The `endpoint` is not a plain http:// or https:// URL');
  return url.href.replace(/\/+$/, '');
}

/** Loaded when first needed: whoever keeps objects in the data folder pays nothing for it. */
export async function connectS3(
  { endpoint, region }: S3Address,
  times: S3Times,
): Promise<{
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
      connectionTimeout: times.connectMs,
      requestTimeout: times.answerMs,
      socketTimeout: times.silenceMs,
      throwOnRequestTimeout: true,
    },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  await mustHaveRegion(client);
  return { client, sdk };
}

/** The address names one, or the environment, or a file of the AWS tools: nothing can be asked without. */
async function mustHaveRegion(client: S3Client): Promise<void> {
  try {
    await client.config.region();
  } catch (cause) {
    const missing = wrong(
      'There is no usable `region` in the URL or in AWS_REGION; for another server than that of Amazon name its `endpoint`',
    );
    missing.cause = cause;
    throw missing;
  }
}

export interface S3Times {
  readonly connectMs: number;
  /** Until the answer begins. */
  readonly answerMs: number;
  /** Of a connection on which something is under way. */
  readonly silenceMs: number;
  /** Content that comes or goes slower than this is given up. */
  readonly bytesPerMsMin: number;
}

export const S3_TIMES: S3Times = {
  connectMs: 3_000,
  answerMs: 10_000,
  silenceMs: 20_000,
  bytesPerMsMin: 1_000,
};

/** The client tries what failed for the moment once more. */
const ATTEMPTS_MAX = 2;

/** For content of this size, once the connection is there. */
export const contentMs = ({ answerMs, bytesPerMsMin }: S3Times, bytes: number): number =>
  answerMs + Math.ceil(bytes / bytesPerMsMin);

/** For a call with all its attempts. */
export const callMs = (times: S3Times, bytes = 0): number =>
  ATTEMPTS_MAX * (times.connectMs + contentMs(times, bytes));

export class Late extends Error {}

/** Rejects with `Late` when the time is over, and tells the work to end. */
export function abortedLate<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  return inTime(ms, work(over.signal), () => {
    over.abort();
    return new Late(`not done within ${Math.ceil(ms / 1_000)} s`);
  });
}

export interface S3Bucket {
  readonly client: S3Client;
  readonly sdk: typeof import('@aws-sdk/client-s3');
  readonly address: S3Address;
  readonly times: S3Times;
}

export interface Named {
  readonly Bucket: string;
  readonly Key: string;
}

/** In the metadata of an object that was put without a content type: S3 gives it one of its own. */
export const NO_TYPE = { name: 'gantry-content-type', value: 'none' } as const;

const TENANT_CHARACTERS = 32;

export const folderOf = ({ prefix }: S3Address, tenant: string, bucket: string): string =>
  `${prefix}${hash('sha256', tenant, 'hex').slice(0, TENANT_CHARACTERS)}/${bucket}/`;

export const nameOf = (address: S3Address, place: BlobPlace, tenant: string): Named => ({
  Bucket: address.bucket,
  Key: `${folderOf(address, tenant, place.bucket)}${place.key}`,
});

/** Where an object is; nobody gets there without a link. */
export function urlOf({ bucket, endpoint }: S3Address, key: string): string {
  const path = key.split('/').map(encodeURIComponent).join('/');
  return endpoint === undefined
    ? `https://${bucket}.s3.amazonaws.com/${path}`
    : `${endpoint}/${bucket}/${path}`;
}
