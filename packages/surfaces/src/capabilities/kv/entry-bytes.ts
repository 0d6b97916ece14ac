/** Rules for entries of kv and cache in every backend. Threads load this file. */
import type { Json } from '@gantry/protocol';
import { KV_ACTUAL_BYTES_MAX, type KvIncrement, type KvSwapped } from '../../ports/kv.ts';
import { Refusal } from '../../refusal.ts';
import { bytesOf, sameJson } from '../../text.ts';

/** For rows and indexes in addition to the texts. Otherwise a tenant could have any number of empty entries. */
export const ENTRY_OVERHEAD_BYTES = 256;

export const entryBytes = (
  { namespace, key }: { readonly namespace: string; readonly key: string },
  json: string,
): number => ENTRY_OVERHEAD_BYTES + bytesOf(namespace) + bytesOf(key) + bytesOf(json);

/** `json`: the current value, or null. Throws `validation_error`. */
export function incremented(json: string | null, delta: number, key: string): KvIncrement {
  const previous: unknown = JSON.parse(json ?? '0');
  if (typeof previous !== 'number')
    throw new Refusal('validation_error', { message: `The key "${key}" does not hold a number.` });
  const value = previous + delta;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return { value, previous };
  throw new Refusal('validation_error', {
    message: `The number at "${key}" would exceed the largest exact integer.`,
  });
}

export function swapped(json: string | null, expected: Json): KvSwapped {
  const actual: Json = JSON.parse(json ?? 'null');
  if (sameJson(actual, expected)) return { swapped: true };
  return { swapped: false, ...(bytesOf(json ?? '') <= KV_ACTUAL_BYTES_MAX && { actual }) };
}
