/** Reads the facts of an MP4 file from its boxes. */
import type { Media } from '../model.ts';

const FIXED_POINT = 65_536;

export function videoOf(bytes: Uint8Array, mimeType = 'video/mp4'): Media {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { data, mimeType, ...durationIn(data), ...sizeIn(data) };
}

/** The start of the fields of a box, if at least this many bytes of them are present. */
function boxIn(data: Buffer, type: string, length: number, from = 0): number | undefined {
  const at = data.indexOf(type, from, 'latin1');
  return at >= 4 && at + 4 + length <= data.length ? at + 4 : undefined;
}

function durationIn(data: Buffer): Pick<Media, 'durationSeconds'> | undefined {
  const at = boxIn(data, 'mvhd', 32);
  if (at === undefined) return undefined;
  const isLong = data[at] === 1;
  const scale = data.readUInt32BE(at + (isLong ? 20 : 12));
  const duration = isLong ? Number(data.readBigUInt64BE(at + 24)) : data.readUInt32BE(at + 16);
  return scale > 0 ? { durationSeconds: duration / scale } : undefined;
}

/** Audio tracks have no size. */
function sizeIn(data: Buffer): Pick<Media, 'width' | 'height'> | undefined {
  for (let at = boxIn(data, 'tkhd', 84); at !== undefined; at = boxIn(data, 'tkhd', 84, at)) {
    const end = at + (data[at] === 1 ? 88 : 76);
    const width = data.readUInt32BE(end) / FIXED_POINT;
    const height = data.readUInt32BE(end + 4) / FIXED_POINT;
    if (width > 0 && height > 0) return { width, height };
  }
  return undefined;
}
