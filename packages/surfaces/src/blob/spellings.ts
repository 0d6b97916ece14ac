/** How published packs call `ctx.storage.blob`: content is base64, and the bucket may be left out. */
import { OpenwopError } from '@gantry/protocol';
import { OBJECT_BYTES_MAX } from '../ports/blobs.ts';
import {
  also,
  fill,
  fromBase64,
  isTooLongForText,
  member,
  rename,
  type Spelling,
  TEXT_BYTES_MAX,
  textOf,
} from '../spelling.ts';

/** A call that names its bucket is understood by its `bytes`; one that does not can only mean this. */
const contentBase64 = member(
  'contentBase64',
  `\`bytes\` as base64, up to ${TEXT_BYTES_MAX} bytes; for more, give the bucket and read \`bytes\``,
  ({ bytes }, { input }) => {
    if (!isTooLongForText(bytes) || input.bucket !== undefined) return textOf(bytes, 'base64');
    throw new OpenwopError('blob_object_too_large', {
      message:
        `An object of more than ${TEXT_BYTES_MAX} bytes is not given as base64. Give the bucket and read the ` +
        '`bytes` of the answer.',
      details: { maxBase64Bytes: TEXT_BYTES_MAX, maxObjectBytes: OBJECT_BYTES_MAX },
    });
  },
);

const bucket = fill({ bucket: 'artifacts' });

export const BLOB: readonly Spelling[] = [
  {
    path: 'storage.blob.put',
    to: 'blobStorage.put',
    takes: [bucket, fromBase64('contentBase64', 'bytes')],
    gives: [also({ size: 'sizeBytes' }), member('key', 'as given', (_value, { input }) => input.key)],
  },
  {
    path: 'storage.blob.get',
    to: 'blobStorage.get',
    takes: [bucket],
    gives: [
      member('found', 'true; a missing object is `blob_object_not_found`', () => true),
      contentBase64,
      member('size', 'in bytes', ({ bytes }) => (bytes instanceof Uint8Array ? bytes.byteLength : undefined)),
    ],
  },
  { path: 'storage.blob.delete', to: 'blobStorage.delete', takes: [bucket] },
  { path: 'storage.blob.list', to: 'blobStorage.list', takes: [bucket] },
  {
    path: 'storage.blob.presign',
    to: 'blobStorage.presign',
    takes: [
      bucket,
      rename({ ttlSeconds: 'expiresInSeconds', operation: 'method' }),
      fill({ expiresInSeconds: 900, method: 'GET' }),
      member('method', 'upper case', ({ method }) =>
        typeof method === 'string' ? method.toUpperCase() : undefined,
      ),
    ],
  },
];
