/**
 * Parses the setting `s3://bucket/prefix?endpoint=https://…&region=…` and creates a client for it. Credentials come
 * from the usual sources of the AWS tools.
 */
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';

export interface S3Address {
  readonly bucket: string;
  /** Ends with a slash unless empty. */
  readonly prefix: string;
  /** The URL of an S3-compatible server, without a trailing slash; Amazon S3 by default. */
  readonly endpoint?: string;
  readonly region?: string;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Leaves space for tenant, bucket and key within the 1,024 bytes of an S3 key. */
const PREFIX_BYTES_MAX = 128;

const EXAMPLE = 's3://bucket/prefix?endpoint=https://minio.example.org:9000&region=eu-west-1';
const REGION = /^[a-z0-9-]{1,64}$/;

/** Messages never repeat the setting: it may contain a password. */
export function readS3Address(url: URL): S3Address {
  const { hostname: bucket, searchParams } = url;
  const [endpoint, region] = [searchParams.get('endpoint'), searchParams.get('region')];
  if (!BUCKET.test(bucket)) throw wrong('The bucket is not a valid S3 bucket name');
  if (url.username !== '' || url.password !== '')
    throw new Error(
      'Put credentials for S3 into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not into the URL.',
    );
  if ([...searchParams.keys()].some((name) => name !== 'endpoint' && name !== 'region'))
    throw wrong('Only the query parameters `endpoint` and `region` are supported');
  if (region !== null && !REGION.test(region)) throw wrong('The `region` is not valid');
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
    throw wrong('The prefix has an invalid % escape; write a % as %25');
  }
  if (Buffer.byteLength(path) > PREFIX_BYTES_MAX)
    throw new Error(`The prefix of an S3 bucket can have at most ${PREFIX_BYTES_MAX} bytes.`);
  return path;
}

function endpointOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  const isPlain =
    url && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}` === '';
  if (!isPlain) throw wrong('The `endpoint` is not a plain http:// or https:// URL');
  return url.href.replace(/\/+$/, '');
}

export interface S3Connection {
  readonly client: S3Client;
  readonly sdk: typeof import('@aws-sdk/client-s3');
}

/** Loads the SDK on first use: few hosts need it. */
export async function connectS3(
  { endpoint, region }: Pick<S3Address, 'endpoint' | 'region'>,
  options: Pick<S3ClientConfig, 'maxAttempts' | 'requestHandler'> = {},
): Promise<S3Connection> {
  const sdk = await import('@aws-sdk/client-s3');
  const named = region === undefined ? {} : { region };
  // Other servers support neither bucket names as host names nor the trailing checksums of newer clients
  const custom: S3ClientConfig =
    endpoint === undefined
      ? named
      : { endpoint, forcePathStyle: true, region: region ?? process.env.AWS_REGION ?? 'us-east-1' };
  const client = new sdk.S3Client({
    ...custom,
    ...options,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  await mustHaveRegion(client);
  return { client, sdk };
}

/** The region comes from the address, the environment or a file of the AWS tools. No request works without one. */
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
