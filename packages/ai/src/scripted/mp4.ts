/** A file with the header of a video and no frames. */
const SCALE = 1_000;
const FIXED_POINT = 65_536;

function box(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

export function emptyMp4(width: number, height: number, seconds: number): Buffer {
  const movie = Buffer.alloc(100);
  movie.writeUInt32BE(SCALE, 12);
  movie.writeUInt32BE(seconds * SCALE, 16);
  const track = Buffer.alloc(84);
  track.writeUInt32BE(width * FIXED_POINT, 76);
  track.writeUInt32BE(height * FIXED_POINT, 80);
  const brand = Buffer.from('isom\0\0\0\0isom', 'latin1');
  return Buffer.concat([
    box('ftyp', brand),
    box('moov', box('mvhd', movie), box('trak', box('tkhd', track))),
  ]);
}
