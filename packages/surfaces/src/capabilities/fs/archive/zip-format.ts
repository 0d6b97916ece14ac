/** The records of zip files. Numbers are little-endian. */

type Values<Name extends string> = { readonly [Each in Name]: number };

const SIGNATURE_BYTES = 4;

/** `fields`: in order, each with its size in bytes. The record has their offsets by name. */
function recordOf<Name extends string>(signature: number, fields: Readonly<Record<Name, 2 | 4>>) {
  let bytes = SIGNATURE_BYTES;
  const members = Object.entries<2 | 4>(fields).map(([name, size]) => {
    bytes += size;
    return { name: name as Name, offset: bytes - size, size };
  });
  const offsets = Object.fromEntries(members.map(({ name, offset }) => [name, offset])) as Values<Name>;
  return {
    ...offsets,
    signature,
    bytes,
    /** Null if there is no such record before `end`. */
    read(zip: Buffer, at: number, end: number): Values<Name> | null {
      if (at + bytes > end || zip.readUInt32LE(at) !== signature) return null;
      const values = members.map(({ name, offset, size }) => [name, zip.readUIntLE(at + offset, size)]);
      return Object.fromEntries(values);
    },
    /** Missing values are zero. */
    write(values: Partial<Values<Name>>): Buffer {
      const record = Buffer.alloc(bytes);
      record.writeUInt32LE(signature);
      for (const { name, offset, size } of members) record.writeUIntLE(values[name] ?? 0, offset, size);
      return record;
    },
  };
}

const HEAD = { version: 2, flags: 2, method: 2, time: 2, date: 2, crc: 4, packed: 4, size: 4 } as const;

/** Before each file. */
export const LOCAL = recordOf(0x04034b50, { ...HEAD, nameBytes: 2, extraBytes: 2 });

/** One for each file in the directory. */
export const CENTRAL = recordOf(0x02014b50, {
  madeBy: 2,
  ...HEAD,
  nameBytes: 2,
  extraBytes: 2,
  commentBytes: 2,
  volume: 2,
  internal: 2,
  attributes: 4,
  offset: 4,
});

export const END = recordOf(0x06054b50, {
  volume: 2,
  directoryVolume: 2,
  entriesHere: 2,
  entries: 2,
  directoryBytes: 4,
  directory: 4,
  commentBytes: 2,
});

export const STORED = 0;
export const DEFLATED = 8;

export const FLAGS = { encrypted: 0x2041, sizesFollow: 0x08, patch: 0x20, utf8: 0x800 } as const;

/** The upper half of the attributes is the Unix mode. */
export const MODE_SHIFT = 16;
export const MODE_KIND = 0o170000;
export const KINDS = { file: 0o100000, folder: 0o040000, link: 0o120000 } as const;
