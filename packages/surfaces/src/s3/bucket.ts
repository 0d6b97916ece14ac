/** A bucket with what is needed to reach it, and the names of objects in it. */
import { hash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import type { BlobPlace } from '../ports/blobs.ts';
import type { S3Address } from './connect.ts';
import type { S3Times } from './times.ts';

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
