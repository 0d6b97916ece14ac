/** Converts values to and from the text format of PostgreSQL. */
import type { Data } from '../calls/data.ts';
import type { SqlValue } from '../ports/sql.ts';
import { decimalOf } from './decimals.ts';
import { isoTime } from './times.ts';

const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
} as const;

/** The server determines the type of a parameter; it gets our text, not the driver's conversion. */
const asText = (oid: number) => ({ to: oid, from: [oid], serialize: (text: string) => text, parse: String });

export const TYPES = {
  boolean: asText(OID.bool),
  bytea: asText(OID.bytea),
  json: asText(OID.json),
  jsonb: asText(OID.jsonb),
  day: asText(OID.date),
  date: asText(OID.timestamptz),
  timestamp: asText(OID.timestamp),
};

export function textOf(value: SqlValue): string | null {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return String(value);
}

export function dataOf(raw: Buffer | null, type: number): Data {
  if (raw === null) return null;
  const text = raw.toString('utf8');
  switch (type) {
    case OID.bool:
      return text === 't';
    case OID.bytea:
      return new Uint8Array(Buffer.from(text.slice(2), 'hex'));
    case OID.int2:
    case OID.int4:
    case OID.int8:
    case OID.oid:
    case OID.numeric:
      return decimalOf(text);
    case OID.float4:
    case OID.float8:
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case OID.timestamp:
    case OID.timestamptz:
      return isoTime(text);
    default:
      return text;
  }
}
