/** Reads events of unknown content: missing values and values of another type get a default. */
import type { Json, JsonObject, RunError } from '@gantry/protocol';
import { isObject } from './json.ts';

export function objectAt(values: JsonObject | undefined, key: string): JsonObject | undefined {
  const value: Json | undefined = isObject(values) ? values[key] : undefined;
  return isObject(value) ? value : undefined;
}

export function numberAt(values: JsonObject, key: string, fallback: number): number {
  const value = values[key];
  return typeof value === 'number' ? value : fallback;
}

export function textAt(values: JsonObject, key: string): string {
  const value = values[key];
  return typeof value === 'string' ? value : '';
}

export function textsAt(values: JsonObject, key: string): readonly string[] {
  const value = values[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function errorAt(payload: JsonObject, key: string): RunError {
  const error = objectAt(payload, key) ?? {};
  const details = objectAt(error, 'details');
  return {
    code: textAt(error, 'code') || 'internal_error',
    message: textAt(error, 'message') || 'The event names no error.',
    ...(details && { details }),
  };
}
