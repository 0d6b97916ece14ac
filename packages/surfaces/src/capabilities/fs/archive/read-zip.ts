/**
 * Reads zip files as most programs write them: stored or deflated, one volume, no passwords, no zip64. Local
 * headers must match the directory, no two files share bytes, and sizes and checksums are verified.
 */
import { crc32, inflateRawSync } from 'node:zlib';
import { badEntry, type Contents, damaged, link, nameOf, special, Tally } from './contents.ts';
import { type Unpacked, unpack } from './limits.ts';
import { CENTRAL, DEFLATED, END, FLAGS, KINDS, LOCAL, MODE_KIND, MODE_SHIFT, STORED } from './zip-format.ts';

const UINT16_MAX = 0xffff;
const UINT32_MAX = 0xffff_ffff;

interface Directory {
  readonly start: number;
  readonly end: number;
  readonly entries: number;
}

interface Entry {
  readonly path: string;
  readonly name: Buffer;
  readonly kind: 'file' | 'folder';
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  /** The offset of the next directory entry. */
  readonly next: number;
}

export function readZip(zip: Buffer): Contents {
  const directory = directoryOf(zip);
  const entries = entriesOf(zip, directory);
  const spans = entries.map((entry) => ({ entry, ...spanOf(zip, entry, directory.start) }));
  refuseShared(spans);
  const contents: Contents = { files: [], folders: [] };
  for (const { entry, data } of spans)
    if (entry.kind === 'folder') contents.folders.push(entry.path);
    else contents.files.push({ path: entry.path, bytes: contentOf(entry, data) });
  return contents;
}

function directoryOf(zip: Buffer): Directory {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(END.signature);
  const from = Math.max(0, zip.byteLength - END.bytes - UINT16_MAX);
  const found = zip.subarray(from).lastIndexOf(signature);
  const at = from + found;
  const end = found === -1 ? null : END.read(zip, at, zip.byteLength);
  if (end === null) throw damaged('is not a complete zip file: its end is missing');
  if (at + END.bytes + end.commentBytes !== zip.byteLength)
    throw damaged('is cut off, or something follows its end');
  const { entries, directoryBytes: bytes, directory: start } = end;
  if (entries === UINT16_MAX || bytes === UINT32_MAX || start === UINT32_MAX)
    throw damaged('is in the zip64 format, which is not supported');
  if (end.volume !== 0 || end.directoryVolume !== 0 || end.entriesHere !== entries)
    throw damaged('is one of several volumes');
  if (start + bytes !== at) throw damaged('has its directory at another offset than stated');
  return { start, end: at, entries };
}

function entriesOf(zip: Buffer, directory: Directory): Entry[] {
  const tally = new Tally(zip.byteLength);
  const entries: Entry[] = [];
  let at = directory.start;
  while (entries.length < directory.entries) {
    const entry = entryAt(zip, at, directory.end);
    tally.count(entry.path, entry.size);
    entries.push(entry);
    at = entry.next;
  }
  if (at !== directory.end) throw damaged('has more directory entries than stated');
  return entries;
}

function entryAt(zip: Buffer, at: number, end: number): Entry {
  const record = CENTRAL.read(zip, at, end);
  if (record === null) throw damaged('has fewer directory entries than stated');
  const { nameBytes, volume, flags, method, crc, packed, size, attributes, offset } = record;
  const next = at + CENTRAL.bytes + nameBytes + record.extraBytes + record.commentBytes;
  if (next > end) throw damaged('has a directory that ends in the middle');
  const name = zip.subarray(at + CENTRAL.bytes, at + CENTRAL.bytes + nameBytes);
  const path = nameOf(name);
  if (flags & FLAGS.encrypted) throw badEntry(path, 'is encrypted');
  if (flags & FLAGS.patch || (method !== STORED && method !== DEFLATED))
    throw badEntry(path, `is compressed by method ${method}; only stored and deflated entries are supported`);
  if (volume !== 0 || [packed, size, offset].includes(UINT32_MAX))
    throw badEntry(path, 'is in another volume or in the zip64 format');
  const kind = kindOf(path, attributes);
  if (kind === 'folder' && size > 0) throw badEntry(path, 'is a folder with content');
  return { path, name, kind, method, crc, packed, size, offset, next };
}

function kindOf(path: string, attributes: number): Entry['kind'] {
  switch ((attributes >>> MODE_SHIFT) & MODE_KIND) {
    case 0:
    case KINDS.file:
      return path.endsWith('/') ? 'folder' : 'file';
    case KINDS.folder:
      return 'folder';
    case KINDS.link:
      throw link(path);
    default:
      throw special(path);
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly data: Buffer;
}

/** Locates the data of a file by its local header. */
function spanOf(zip: Buffer, { path, name, method, crc, packed, size, offset }: Entry, limit: number): Span {
  const disagrees = badEntry(path, 'does not match its directory entry');
  const head = LOCAL.read(zip, offset, limit);
  if (head === null) throw disagrees;
  const nameEnd = offset + LOCAL.bytes + head.nameBytes;
  const start = nameEnd + head.extraBytes;
  const end = start + packed;
  if (end > limit || !zip.subarray(offset + LOCAL.bytes, nameEnd).equals(name)) throw disagrees;
  const isSame =
    head.method === method &&
    ((head.flags & FLAGS.sizesFollow) !== 0 ||
      (head.crc === crc && head.packed === packed && head.size === size));
  if (!isSame) throw disagrees;
  return { start: offset, end, data: zip.subarray(start, end) };
}

/** Overlapping entries let a small archive unpack to a huge size. */
function refuseShared(spans: readonly (Span & { readonly entry: Entry })[]): void {
  let end = 0;
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if (span.start < end) throw badEntry(span.entry.path, 'shares bytes with another entry');
    end = span.end;
  }
}

function contentOf({ path, method, crc, size }: Entry, data: Buffer): Uint8Array {
  const content: Unpacked =
    method === STORED ? { outcome: 'whole', bytes: data } : unpack(inflateRawSync, data, size);
  if (content.outcome === 'whole' && content.bytes.byteLength === size && crc32(content.bytes) === crc)
    return content.bytes;
  throw badEntry(path, 'is damaged: its content does not match the directory');
}
