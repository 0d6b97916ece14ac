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
  type Step,
  TEXT_BYTES_MAX,
  textOf,
} from '../spelling.ts';

const contentBase64 = member(
  'contentBase64',
  `\`bytes\` as base64, up to ${TEXT_BYTES_MAX} bytes; for more, read \`bytes\``,
  ({ bytes }) => textOf(bytes, 'base64'),
);

const size = member('size', 'in bytes', ({ bytes }) =>
  bytes instanceof Uint8Array ? bytes.byteLength : undefined,
);

/** A call that names its bucket may be of the contract; one that does not is a pack's, which reads text alone. */
const onlyBase64: Step = {
  says: `\`bytes\` → \`contentBase64\`, up to ${TEXT_BYTES_MAX} bytes; for more, give the bucket and read \`bytes\``,
  adapt({ bytes, ...value }) {
    if (bytes === undefined) return value;
    if (!isTooLongForText(bytes)) return { ...value, contentBase64: textOf(bytes, 'base64')! };
    throw new OpenwopError('blob_object_too_large', {
      message:
        `An object of more than ${TEXT_BYTES_MAX} bytes is not given as base64. Give the bucket and read the ` +
        '`bytes` of the answer.',
      details: { maxBase64Bytes: TEXT_BYTES_MAX, maxObjectBytes: OBJECT_BYTES_MAX },
    });
  },
};

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
  { path: 'storage.blob.get', to: 'blobStorage.find', gives: [size, onlyBase64] },
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
