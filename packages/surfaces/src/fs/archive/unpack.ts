import type { ZlibOptions } from 'node:zlib';

export type Unpacked =
  | { readonly outcome: 'whole'; readonly bytes: Buffer }
  | { readonly outcome: 'too large' | 'damaged' | 'goes on' };

type Unpack = (data: Buffer, options: ZlibOptions) => unknown;

/** All of the data, in no more than so many bytes. Libraries ignore what follows the end of a stream. */
export function unpack(by: Unpack, data: Buffer, bytesMax: number): Unpacked {
  try {
    const made: unknown = by(data, { maxOutputLength: Math.max(bytesMax, 1), info: true });
    const { buffer, engine } = made as { buffer: Buffer; engine: { bytesWritten: number } };
    if (engine.bytesWritten < data.byteLength) return { outcome: 'goes on' };
    return { outcome: 'whole', bytes: buffer };
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { outcome: isTooLarge ? 'too large' : 'damaged' };
  }
}
