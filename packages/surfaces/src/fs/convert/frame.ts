/** What travels between the host and a converter: JSON, then bytes. */

export interface Message {
  readonly head: unknown;
  readonly parts: readonly Uint8Array[];
}

const LENGTH_BYTES = 4;
const PARTS_MAX = 128;

export function encode({ head, parts }: Message): Buffer {
  const text = Buffer.from(JSON.stringify({ head, lengths: parts.map(({ byteLength }) => byteLength) }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.byteLength);
  return Buffer.concat([length, text, ...parts]);
}

/** Throws on what is not exactly one message: the other side decodes files from anywhere, and may be theirs by now. */
export function decode(bytes: Buffer): Message {
  const start = LENGTH_BYTES + bytes.readUInt32BE(0);
  const { head, lengths } = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, start)) as {
    head: unknown;
    lengths: unknown;
  };
  if (!Array.isArray(lengths) || lengths.length > PARTS_MAX) throw new Error('a message without its parts');
  let offset = start;
  const parts = lengths.map((length) => {
    if (!Number.isSafeInteger(length) || length < 0 || offset + length > bytes.byteLength)
      throw new Error('a part that is not there');
    offset += length;
    return new Uint8Array(bytes.subarray(offset - length, offset));
  });
  if (offset !== bytes.byteLength) throw new Error('bytes that belong to nothing');
  return { head, parts };
}
