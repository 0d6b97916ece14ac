/** Where zip files have what. Numbers are little-endian; offsets are within their record. */

export const LOCAL = {
  signature: 0x04034b50,
  bytes: 30,
  version: 4,
  flags: 6,
  method: 8,
  time: 10,
  date: 12,
  crc: 14,
  packed: 18,
  size: 22,
  nameBytes: 26,
  extraBytes: 28,
} as const;

export const CENTRAL = {
  signature: 0x02014b50,
  bytes: 46,
  madeBy: 4,
  version: 6,
  flags: 8,
  method: 10,
  time: 12,
  date: 14,
  crc: 16,
  packed: 20,
  size: 24,
  nameBytes: 28,
  extraBytes: 30,
  commentBytes: 32,
  volume: 34,
  attributes: 38,
  offset: 42,
} as const;

export const END = {
  signature: 0x06054b50,
  bytes: 22,
  volume: 4,
  directoryVolume: 6,
  entriesHere: 8,
  entries: 10,
  directoryBytes: 12,
  directory: 16,
  commentBytes: 20,
} as const;

export const STORED = 0;
export const DEFLATED = 8;

export const FLAGS = { encrypted: 0x2041, sizesFollow: 0x08, patch: 0x20, utf8: 0x800 } as const;

/** The upper half of the attributes, as Unix has it. */
export const MODE_SHIFT = 16;
export const MODE_KIND = 0o170000;
export const KINDS = { file: 0o100000, folder: 0o040000, link: 0o120000 } as const;
