/** Archives written by hand, byte by byte, as no honest tool would write them. */
import { gzipSync } from 'node:zlib';

export interface TarEntry {
  readonly name: string;
  readonly content?: Uint8Array | string;
  readonly type?: string;
  /** What the header claims, if not the truth. */
  readonly size?: number | string;
  readonly prefix?: string;
  readonly magic?: string;
  readonly linkname?: string;
}

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;

export function tarHeader(entry: TarEntry): Buffer {
  const block = Buffer.alloc(512);
  const content = Buffer.from(entry.content ?? '');
  block.write(entry.name, 0, 100);
  block.write('0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(
    typeof entry.size === 'string' ? entry.size : octal(entry.size ?? content.length, 12),
    124,
    'latin1',
  );
  block.write(octal(0, 12), 136);
  block.write(entry.type ?? '0', 156, 'latin1');
  block.write(entry.linkname ?? '', 157);
  block.write(entry.magic ?? 'ustar\x0000', 257, 'latin1');
  block.write(entry.prefix ?? '', 345);
  block.write(' '.repeat(8), 148);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

export function tarEntry(entry: TarEntry): Buffer {
  const content = Buffer.from(entry.content ?? '');
  return Buffer.concat([tarHeader(entry), content, Buffer.alloc(-content.length & 511)]);
}

export const TAR_END = Buffer.alloc(1024);
export const MANIFEST: TarEntry = { name: 'pack.json', content: '{}' };

export const tgz = (...parts: readonly Uint8Array[]): Buffer => gzipSync(Buffer.concat(parts));

/** An archive with a manifest and these. */
export const hostile = (...entries: readonly TarEntry[]): Buffer =>
  tgz(...[MANIFEST, ...entries].map(tarEntry), TAR_END);
