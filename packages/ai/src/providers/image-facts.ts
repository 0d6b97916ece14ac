/** Reads type and size from the first bytes of an image: providers report neither. */
import type { Media } from '../model.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

export function imageOf(bytes: Uint8Array): Media {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts = data.toString('latin1', 0, 4);
  if (data[0] === 0xff && data[1] === 0xd8) return { data, mimeType: 'image/jpeg', ...jpegSize(data) };
  if (starts === 'RIFF') return { data, mimeType: 'image/webp', ...webpSize(data) };
  const size = starts === '\x89PNG' &&
    data.length >= 24 && { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  return { data, mimeType: 'image/png', ...size };
}

/** The first frame header in the segments. */
function jpegSize(data: Buffer): Size | undefined {
  for (let at = 2; at + 9 < data.length && data[at] === 0xff; at += 2 + data.readUInt16BE(at + 2)) {
    const marker = data[at + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: data.readUInt16BE(at + 7), height: data.readUInt16BE(at + 5) };
  }
  return undefined;
}

function webpSize(data: Buffer): Size | undefined {
  if (data.length < 30) return undefined;
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = data.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}
