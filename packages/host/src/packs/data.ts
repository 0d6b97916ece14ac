/** Converts data from the sandbox to JSON. Bytes become base64, as in results. */
import { isObject, type Json, type JsonObject } from '@gantry/protocol';
import type { Data } from '@gantry/sandbox';

export function toJson(data: Data): Json {
  if (data instanceof Uint8Array) return Buffer.from(data).toString('base64');
  if (typeof data !== 'object' || data === null) return data;
  if (isList(data)) return data.map(toJson);
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, toJson(value)]));
}

const isList = (data: object): data is readonly Data[] => Array.isArray(data);

export function toObject(data: Data): JsonObject {
  const value = toJson(data);
  return isObject(value) ? value : { value };
}
