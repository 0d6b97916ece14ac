/** Decompresses answers of servers that compress although the request excludes it. The result is limited in size. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { type EgressError, egressError } from '@gantry/egress';

type Open = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>;

const OPEN: ReadonlyMap<string, Open> = new Map<string, Open>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
]);

/** More than one is not seen in practice, and each multiplies the work. */
const ENCODINGS_MAX = 2;

export const encodingsOf = (headers: Headers): string[] =>
  (headers.get('content-encoding') ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');

/** Rejects with `EgressError`. */
export async function decoded(
  body: Uint8Array,
  encodings: readonly string[],
  bytesMax: number,
): Promise<Uint8Array> {
  if (encodings.length > ENCODINGS_MAX) throw invalid('The response has too many content encodings.');
  let opened = body;
  for (const name of encodings.toReversed()) {
    const open = OPEN.get(name);
    if (!open) throw invalid('The content encoding of the response is not supported.');
    opened = await open(opened, { maxOutputLength: bytesMax }).catch((error: unknown) => {
      throw isTooLarge(error)
        ? egressError('response_too_large', `The answer has more than ${bytesMax} bytes after decompression.`)
        : invalid('The compressed response cannot be read.');
    });
  }
  return opened;
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';

const invalid = (happened: string): EgressError => egressError('response_invalid', happened);
