/** How published packs call `ctx.storage.blob`: content is base64, and the bucket may be left out. Answers have both. */
import {
  also,
  fill,
  fromBase64,
  member,
  rename,
  type Spelling,
  TEXT_BYTES_MAX,
  textOf,
} from '../../calls/spelling.ts';

const contentBase64 = member(
  'contentBase64',
  `\`bytes\` as base64, up to ${TEXT_BYTES_MAX} bytes; for more, read \`bytes\``,
  ({ bytes }) => textOf(bytes, 'base64'),
);

const size = member('size', 'in bytes', ({ bytes }) =>
  bytes instanceof Uint8Array ? bytes.byteLength : undefined,
);

export const BLOB: readonly Spelling[] = [
  {
    path: 'storage.blob.put',
    to: 'blobStorage.put',
    takes: [fromBase64('contentBase64', 'bytes')],
    gives: [also({ size: 'sizeBytes' }), member('key', 'as given', (_value, { input }) => input.key)],
  },
  {
    path: 'storage.blob.get',
    when: 'bucket',
    to: 'blobStorage.get',
    gives: [
      member('found', 'true; a missing object is `blob_object_not_found`', () => true),
      contentBase64,
      size,
    ],
  },
  { path: 'storage.blob.get', to: 'blobStorage.find', gives: [contentBase64, size] },
  {
    path: 'storage.blob.presign',
    to: 'blobStorage.presign',
    takes: [
      rename({ ttlSeconds: 'expiresInSeconds', operation: 'method' }),
      fill({ expiresInSeconds: 900, method: 'GET' }),
      member('method', 'upper case', ({ method }) =>
        typeof method === 'string' ? method.toUpperCase() : undefined,
      ),
    ],
  },
];
