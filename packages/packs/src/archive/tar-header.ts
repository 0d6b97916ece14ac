import { archiveError } from './limits.ts';

export const BLOCK_BYTES = 512;

export interface TarHeader {
  readonly type: 'file' | 'directory';
  readonly path: string;
  readonly size: number;
}

const failed = (message: string, path?: string) => archiveError('tarball_tar_parse_failed', message, path);

/** One header block of USTAR as published packs use it; everything beyond is refused by name. */
export function readTarHeader(block: Buffer): TarHeader {
  if (checksum(block) !== octal(block, 148, 8)) throw failed('A header of the archive is damaged.');
  if (block.toString('latin1', 257, 262) !== 'ustar') throw failed('The archive is not USTAR.');
  const path = [string(block, 345, 155), string(block, 0, 100)].filter((part) => part !== '').join('/');
  const size = octal(block, 124, 12);
  const type = typeOf(String.fromCharCode(block[156] ?? 0), path);
  if (type === 'directory' && size > 0) throw failed('A folder in the archive has content.', path);
  return { type, path, size };
}

function typeOf(flag: string, path: string): TarHeader['type'] {
  if (flag === '0' || flag === '\0') return 'file';
  if (flag === '5') return 'directory';
  if (flag === '1' || flag === '2') throw archiveError('unsafe_paths', 'The archive holds a link.', path);
  if (flag === '3' || flag === '4' || flag === '6')
    throw archiveError('unsafe_paths', 'The archive holds a device or a pipe.', path);
  if ('xgLK'.includes(flag)) throw failed('The archive uses extended headers for long names.', path);
  throw failed(`The archive holds an entry of the unknown type ${JSON.stringify(flag)}.`, path);
}

function string(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(end === -1 ? field : field.subarray(0, end));
  } catch {
    throw failed('A name in the archive is not UTF-8.');
  }
}

/** Octal digits, padded with spaces and NULs; the base-256 form of other dialects is refused. */
function octal(block: Buffer, start: number, length: number): number {
  const field = block
    .toString('latin1', start, start + length)
    .replace(/^ +/, '')
    .replace(/[\0 ]+$/, '');
  if (!/^[0-7]{1,11}$/.test(field)) throw failed('A header of the archive has a number that is not octal.');
  return Number.parseInt(field, 8);
}

/** The sum of all bytes, with spaces in place of the sum itself. */
function checksum(block: Buffer): number {
  let sum = 0;
  for (let index = 0; index < BLOCK_BYTES; index++)
    sum += index >= 148 && index < 156 ? 32 : (block[index] ?? 0);
  return sum;
}
