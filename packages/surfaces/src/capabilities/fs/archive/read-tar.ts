/**
 * Reads tar files: ustar, PAX and GNU names. Libraries accept trailing data and invalid names and numbers;
 * this does not.
 */
import { gunzipSync } from 'node:zlib';
import { Unconvertible } from '../convert/task.ts';
import { badEntry, type Contents, damaged, link, nameOf, special, Tally } from './contents.ts';
import { unpack, unpackedBytesMax } from './limits.ts';

const BLOCK_BYTES = 512;

interface Header {
  readonly name: Buffer;
  readonly size: number;
  readonly flag: string;
}

export function readTar(tar: Buffer): Contents {
  const tally = new Tally(tar.byteLength);
  const contents: Contents = { files: [], folders: [] };
  let extended = NOTHING_EXTENDED;
  for (let at = 0; ; ) {
    const block = tar.subarray(at, at + BLOCK_BYTES);
    if (block.byteLength === BLOCK_BYTES && isZero(block)) {
      if (!isZero(tar.subarray(at))) throw damaged('continues after its end');
      if (extended !== NOTHING_EXTENDED) throw damaged('ends in the middle');
      return contents;
    }
    const header = headerOf(block);
    const start = at + BLOCK_BYTES;
    const size = EXTENDS.includes(header.flag) ? header.size : (extended.size ?? header.size);
    const content = tar.subarray(start, start + size);
    if (content.byteLength < size) throw damaged('ends in the middle');
    at = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    if (EXTENDS.includes(header.flag)) {
      extended = extendedBy(extended, header.flag, content);
      continue;
    }
    const path = extended.path ?? nameOf(header.name);
    tally.count(path, size);
    take(contents, path, header.flag, content);
    extended = NOTHING_EXTENDED;
  }
}

/** Headers that describe the next entry. */
const EXTENDS = 'xgLK';

function extendedBy(extended: Extended, flag: string, content: Buffer): Extended {
  switch (flag) {
    case 'x':
      return { ...extended, ...paxOf(content) };
    case 'g':
      // Applies to all following entries: no supported field can be the same for all
      if (Object.keys(paxOf(content)).length > 0) throw damaged('has one name or size for many entries');
      return extended;
    case 'L':
      return { ...extended, path: nameOf(untilZero(content)) };
    default:
      // The target of a link, whose entry is refused later
      return { ...extended };
  }
}

const KINDS: Readonly<Record<string, 'file' | 'folder' | 'link' | 'special'>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '5': 'folder',
  '1': 'link',
  '2': 'link',
  '3': 'special',
  '4': 'special',
  '6': 'special',
};

function take({ files, folders }: Contents, path: string, flag: string, content: Buffer): void {
  // In old archives a folder is a file whose name ends with a slash
  const kind = KINDS[flag] === 'file' && path.endsWith('/') ? 'folder' : KINDS[flag];
  switch (kind) {
    case 'file':
      files.push({ path, bytes: content });
      return;
    case 'folder':
      if (content.byteLength > 0) throw badEntry(path, 'is a folder with content');
      folders.push(path);
      return;
    case 'link':
      throw link(path);
    case 'special':
      throw special(path);
    case undefined:
      throw badEntry(path, `has the type ${JSON.stringify(flag)}, which is not supported`);
  }
}

function headerOf(block: Buffer): Header {
  if (block.byteLength < BLOCK_BYTES) throw damaged('ends in the middle');
  if (sumOf(block) !== octal(block, 148, 8))
    throw damaged('is not a tar file, or one of its headers is damaged');
  const name = untilZero(block.subarray(0, 100));
  const isUstar = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isUstar ? untilZero(block.subarray(345, 500)) : Buffer.alloc(0);
  return {
    name: prefix.byteLength > 0 ? Buffer.concat([prefix, Buffer.from('/'), name]) : name,
    size: octal(block, 124, 12),
    flag: String.fromCharCode(block[156]!),
  };
}

/** Octal digits between spaces and NULs. The form for more than 8 GiB is not supported. */
function octal(block: Buffer, start: number, length: number): number {
  const digits = block.toString('latin1', start, start + length).replace(/^ +|[\0 ]+$/g, '');
  if (!/^[0-7]{1,11}$/.test(digits)) throw damaged('has a header with an invalid number');
  return Number.parseInt(digits, 8);
}

/** The sum of all bytes, with spaces in place of the checksum itself. */
function sumOf(block: Buffer): number {
  let sum = 0;
  for (let index = 0; index < BLOCK_BYTES; index++) sum += index >= 148 && index < 156 ? 32 : block[index]!;
  return sum;
}

function untilZero(field: Buffer): Buffer {
  const end = field.indexOf(0);
  return end === -1 ? field : field.subarray(0, end);
}

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

export function readTarGz(bytes: Buffer): Contents {
  return readTar(gunzip(bytes));
}

function gunzip(bytes: Buffer): Buffer {
  const bytesMax = unpackedBytesMax(bytes.byteLength);
  const unpacked = unpack(gunzipSync, bytes, bytesMax);
  switch (unpacked.outcome) {
    case 'whole':
      return unpacked.bytes;
    case 'goes on':
      throw damaged('continues after its end');
    case 'damaged':
      throw damaged('is not a complete gzip stream');
    case 'too large':
      throw new Unconvertible(
        `The archive unpacks to more than ${bytesMax} bytes, which is too much for one of ${bytes.byteLength}.`,
        'file_too_large',
      );
  }
}

export interface Extended {
  readonly path?: string;
  readonly size?: number;
}

export const NOTHING_EXTENDED: Extended = {};

const SPACE = 0x20;
const EQUALS = 0x3d;
const NEWLINE = 0x0a;

/** A record is `27 path=reports/july.csv` and a newline; the number is the length of the whole record. */
export function paxOf(content: Buffer): Extended {
  let extended: Extended = {};
  for (let at = 0; at < content.byteLength; ) {
    const space = content.indexOf(SPACE, at);
    const digits = space === -1 ? '' : content.toString('latin1', at, Math.min(space, at + 9));
    const end = at + Number(digits);
    const equals = content.indexOf(EQUALS, space);
    if (!/^[1-9]\d*$/.test(digits) || equals === -1 || equals >= end || content[end - 1] !== NEWLINE)
      throw damaged('has a damaged PAX header');
    const key = content.toString('latin1', space + 1, equals);
    extended = { ...extended, ...meaningOf(key, content.subarray(equals + 1, end - 1)) };
    at = end;
  }
  return extended;
}

function meaningOf(key: string, value: Buffer): Extended {
  if (key === 'path') return { path: nameOf(value) };
  if (key.startsWith('GNU.sparse.')) throw damaged('has sparse files; pack it without --sparse');
  if (key !== 'size') return NOTHING_EXTENDED;
  const digits = value.toString('latin1');
  if (!/^\d{1,15}$/.test(digits)) throw damaged('has a PAX header with an invalid size');
  return { size: Number(digits) };
}
