import { crc32, deflateRawSync } from 'node:zlib';
import type { ArchiveFile } from './contents.ts';
import { RATIO_MAX } from './limits.ts';
import { CENTRAL, DEFLATED, END, FLAGS, KINDS, LOCAL, MODE_SHIFT, STORED } from './zip-format.ts';

/** 2.0: deflate. The upper byte means that attributes are those of Unix. */
const VERSION = 20;
const MADE_BY = (3 << 8) | VERSION;
/** The first date of the format: files with the same content make the same archive. */
const DATE = 0x0021;
const ATTRIBUTES = ((KINDS.file | 0o644) << MODE_SHIFT) >>> 0;

interface Written {
  readonly name: Buffer;
  readonly method: number;
  readonly crc: number;
  readonly size: number;
  readonly data: Uint8Array;
  readonly offset: number;
}

export function writeZip(files: readonly ArchiveFile[]): Buffer {
  const written: Written[] = [];
  let offset = 0;
  for (const { path, bytes } of files) {
    const name = Buffer.from(path);
    const packing = pack(bytes);
    written.push({ name, ...packing, crc: crc32(bytes), size: bytes.byteLength, offset });
    offset += LOCAL.bytes + name.byteLength + packing.data.byteLength;
  }
  const directory = written.flatMap((file) => [
    CENTRAL.write({ ...headOf(file), madeBy: MADE_BY, attributes: ATTRIBUTES, offset: file.offset }),
    file.name,
  ]);
  const directoryBytes = directory.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const entries = written.length;
  return Buffer.concat([
    ...written.flatMap((file) => [LOCAL.write(headOf(file)), file.name, file.data]),
    ...directory,
    END.write({ entriesHere: entries, entries, directoryBytes, directory: offset }),
  ]);
}

/** Stored without compression if that is smaller, or if readers, including ours, would refuse it as a bomb. */
function pack(bytes: Uint8Array): Pick<Written, 'method' | 'data'> {
  const data = deflateRawSync(bytes);
  const isWorth = data.byteLength < bytes.byteLength && bytes.byteLength <= data.byteLength * RATIO_MAX;
  return isWorth ? { method: DEFLATED, data } : { method: STORED, data: bytes };
}

const headOf = ({ name, method, crc, size, data }: Written) => ({
  version: VERSION,
  flags: FLAGS.utf8,
  method,
  date: DATE,
  crc,
  packed: data.byteLength,
  size,
  nameBytes: name.byteLength,
});
