/**
 * Spellings of `ctx.storage.blob` in published packs: content is base64, and the bucket is optional. Answers
 * have both spellings.
 */
import {
  also,
  fill,
  fromBase64,
  member,
  type OwnSpelling,
  rename,
  sizeInBytes,
  TEXT_BYTES_MAX,
  textOf,
} from '../../calls/spelling.ts';

const contentBase64 = member(
  'contentBase64',
  `\`bytes\` as base64, up to ${TEXT_BYTES_MAX} bytes; for more, read \`bytes\``,
  ({ bytes }) => textOf(bytes, 'base64'),
);

export const BLOB: readonly OwnSpelling[] = [
  {
    call: 'put',
    takes: [fromBase64('contentBase64', 'bytes')],
    gives: [also({ size: 'sizeBytes' }), member('key', 'as given', (_value, { input }) => input.key)],
  },
  {
    call: 'get',
    when: 'bucket',
    gives: [
      member('found', 'true; a missing object is `blob_object_not_found`', () => true),
      contentBase64,
      sizeInBytes,
    ],
  },
  { call: 'get', to: 'find', gives: [contentBase64, sizeInBytes] },
  {
    call: 'presign',
    takes: [
      rename({ ttlSeconds: 'expiresInSeconds', operation: 'method' }),
      fill({ expiresInSeconds: 900, method: 'GET' }),
      member('method', 'upper case', ({ method }) =>
        typeof method === 'string' ? method.toUpperCase() : undefined,
      ),
    ],
  },
];
