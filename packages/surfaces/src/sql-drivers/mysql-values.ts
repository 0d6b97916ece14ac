import mysql, { type FieldPacket } from 'mysql2';
import type { Data } from '../calls/data.ts';
import type { SqlValue } from '../ports/sql.ts';
import { decimalOf } from './decimals.ts';
import { isoTime } from './times.ts';

// Getters of a CommonJS module: no named imports
const { TypedParameter, Types } = mysql;

/** Integers are sent as such: LIMIT accepts no floating point. */
export function parameterOf(value: SqlValue) {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return TypedParameter.BIGINT(value);
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}

/** MySQL accepts no Z; its sessions are in UTC. */
export const withoutZone = (text: string): string => text.replace('T', ' ').replace(/Z$/, '');

export const isZoned = (value: SqlValue): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/.test(value);

export type Field = Pick<FieldPacket, 'name' | 'columnType' | 'columnLength'>;

/** From the driver: numbers beyond 2^53, decimals and times are already text. Every sum is a decimal. */
export function dataOf(value: unknown, { columnType, columnLength }: Field): Data {
  if (value === null || value === undefined) return null;
  if (columnType === Types.TINY && columnLength === 1) return value !== 0;
  if (columnType === Types.BIT && columnLength === 1) return Buffer.isBuffer(value) && value[0] === 1;
  if (Buffer.isBuffer(value)) return new Uint8Array(value);
  if (columnType === Types.DECIMAL || columnType === Types.NEWDECIMAL) return decimalOf(String(value));
  if (columnType === Types.FLOAT) return shortest(Number(value));
  if (columnType === Types.TIMESTAMP) return isoTime(String(value), true);
  if (columnType === Types.DATETIME) return isoTime(String(value));
  return typeof value === 'number' ? value : String(value);
}

const [SINGLE_DIGITS_MIN, SINGLE_DIGITS_MAX] = [6, 9];

/** A single-precision number with its shortest digits: 0.1, not 0.10000000149011612. */
function shortest(single: number): number {
  for (let digits = SINGLE_DIGITS_MIN; digits < SINGLE_DIGITS_MAX; digits++) {
    const short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) return short;
  }
  return Number(single.toPrecision(SINGLE_DIGITS_MAX));
}
