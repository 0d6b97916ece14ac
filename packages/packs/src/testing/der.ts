/** As much DER as a certificate needs. */
function lengthOf(bytes: number): Buffer {
  if (bytes < 128) return Buffer.from([bytes]);
  return bytes < 256 ? Buffer.from([0x81, bytes]) : Buffer.from([0x82, bytes >> 8, bytes & 0xff]);
}

const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
};

const base128 = (value: number): number[] =>
  value < 128 ? [value] : [...base128(value >> 7).map((byte) => byte | 0x80), value & 0x7f];

export const der = {
  sequence: (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts),
  set: (...parts: readonly Uint8Array[]): Buffer => tagged(0x31, ...parts),
  integer: (value: number): Buffer => tagged(0x02, Buffer.from([value])),
  boolean: (): Buffer => tagged(0x01, Buffer.from([0xff])),
  octets: (...parts: readonly Uint8Array[]): Buffer => tagged(0x04, ...parts),
  bits: (bytes: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), bytes),
  text: (value: string): Buffer => tagged(0x0c, Buffer.from(value)),
  time: (at: Date): Buffer =>
    tagged(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`)),
  /** Context-specific, constructed. */
  explicit: (tag: number, ...parts: readonly Uint8Array[]): Buffer => tagged(0xa0 | tag, ...parts),
  /** Context-specific, primitive. */
  implicit: (tag: number, bytes: Uint8Array): Buffer => tagged(0x80 | tag, bytes),
  oid: (dotted: string): Buffer => {
    const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
    return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
  },
};
