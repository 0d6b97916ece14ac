import { crc32, deflateRawSync } from 'node:zlib';
import type { ArchiveFile } from './contents.ts';
import { RATIO_MAX } from './limits.ts';
import { CENTRAL, DEFLATED, END, FLAGS, KINDS, LOCAL, MODE_SHIFT, STORED } from './zip-format.ts';

/** 2.0: deflate. The upper byte says that attributes are those of Unix. */
const VERSION = 20;
const MADE_BY = (3 << 8) | VERSION;
/** The first day that the format knows: files of the same content make the same archive. */
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
  const directory = written.map(centralHeader);
  const directoryBytes = directory.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return Buffer.concat([
    ...written.flatMap((file) => [localHeader(file), file.name, file.data]),
    ...directory,
    end({ entries: written.length, directoryBytes, directory: offset }),
  ]);
}

/** As it is where that is smaller, and where readers, ours among them, would take it for a bomb. */
function pack(bytes: Uint8Array): Pick<Written, 'method' | 'data'> {
  const data = deflateRawSync(bytes);
  const isWorth = data.byteLength < bytes.byteLength && bytes.byteLength <= data.byteLength * RATIO_MAX;
  return isWorth ? { method: DEFLATED, data } : { method: STORED, data: bytes };
}

function localHeader({ name, method, crc, size, data }: Written): Buffer {
  const header = Buffer.alloc(LOCAL.bytes);
  header.writeUInt32LE(LOCAL.signature);
  header.writeUInt16LE(VERSION, LOCAL.version);
  header.writeUInt16LE(FLAGS.utf8, LOCAL.flags);
  header.writeUInt16LE(method, LOCAL.method);
  header.writeUInt16LE(DATE, LOCAL.date);
  header.writeUInt32LE(crc, LOCAL.crc);
  header.writeUInt32LE(data.byteLength, LOCAL.packed);
  header.writeUInt32LE(size, LOCAL.size);
  header.writeUInt16LE(name.byteLength, LOCAL.nameBytes);
  return header;
}

function centralHeader({ name, method, crc, size, data, offset }: Written): Buffer {
  const header = Buffer.alloc(CENTRAL.bytes);
  header.writeUInt32LE(CENTRAL.signature);
  header.writeUInt16LE(MADE_BY, CENTRAL.madeBy);
  header.writeUInt16LE(VERSION, CENTRAL.version);
  header.writeUInt16LE(FLAGS.utf8, CENTRAL.flags);
  header.writeUInt16LE(method, CENTRAL.method);
  header.writeUInt16LE(DATE, CENTRAL.date);
  header.writeUInt32LE(crc, CENTRAL.crc);
  header.writeUInt32LE(data.byteLength, CENTRAL.packed);
  header.writeUInt32LE(size, CENTRAL.size);
  header.writeUInt16LE(name.byteLength, CENTRAL.nameBytes);
  header.writeUInt32LE(ATTRIBUTES, CENTRAL.attributes);
  header.writeUInt32LE(offset, CENTRAL.offset);
  return Buffer.concat([header, name]);
}

function end(facts: Record<'entries' | 'directoryBytes' | 'directory', number>): Buffer {
  const header = Buffer.alloc(END.bytes);
  header.writeUInt32LE(END.signature);
  header.writeUInt16LE(facts.entries, END.entriesHere);
  header.writeUInt16LE(facts.entries, END.entries);
  header.writeUInt32LE(facts.directoryBytes, END.directoryBytes);
  header.writeUInt32LE(facts.directory, END.directory);
  return header;
}
