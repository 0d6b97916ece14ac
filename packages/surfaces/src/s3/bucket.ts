/** A bucket: names of its objects, and timeouts of requests. */
import { hash } from 'node:crypto';
import type { S3Address, S3Connection } from '@gantry/store';
import { inTime } from '../deadline.ts';
import type { BlobTarget } from '../ports/blobs.ts';

export interface S3Times {
  readonly connectMs: number;
  /** Until the answer begins. */
  readonly answerMs: number;
  /** Of a connection with a request in progress. */
  readonly silenceMs: number;
  /** Slower transfers of content are aborted. */
  readonly bytesPerMsMin: number;
}

export const S3_TIMES: S3Times = {
  connectMs: 3_000,
  answerMs: 10_000,
  silenceMs: 20_000,
  bytesPerMsMin: 1_000,
};

/** The client retries temporary failures once. */
export const ATTEMPTS_MAX = 2;

/** The time limit for content of this size, once connected. */
export const contentMs = ({ answerMs, bytesPerMsMin }: S3Times, bytes: number): number =>
  answerMs + Math.ceil(bytes / bytesPerMsMin);

/** The time limit for a call with all its attempts. */
export const callMs = (times: S3Times, bytes = 0): number =>
  ATTEMPTS_MAX * (times.connectMs + contentMs(times, bytes));

export class Late extends Error {}

/** Rejects with `Late` after the time limit, and aborts the work. */
export function abortedLate<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  return inTime(ms, work(over.signal), () => {
    over.abort();
    return new Late(`not done within ${Math.ceil(ms / 1_000)} s`);
  });
}

export interface S3Bucket extends S3Connection {
  readonly address: S3Address;
  readonly times: S3Times;
}

export interface Named {
  readonly Bucket: string;
  readonly Key: string;
}

/** In the metadata of an object without a content type: S3 would set its own default. */
export const NO_TYPE = { name: 'gantry-content-type', value: 'none' } as const;

const TENANT_CHARACTERS = 32;

export const folderOf = ({ prefix }: S3Address, tenant: string, bucket: string): string =>
  `${prefix}${hash('sha256', tenant, 'hex').slice(0, TENANT_CHARACTERS)}/${bucket}/`;

export const nameOf = (address: S3Address, target: BlobTarget, tenant: string): Named => ({
  Bucket: address.bucket,
  Key: `${folderOf(address, tenant, target.bucket)}${target.key}`,
});

/** The address of an object; access requires a link. */
export function urlOf({ bucket, endpoint }: S3Address, key: string): string {
  const path = key.split('/').map(encodeURIComponent).join('/');
  return endpoint === undefined
    ? `https://${bucket}.s3.amazonaws.com/${path}`
    : `${endpoint}/${bucket}/${path}`;
}
