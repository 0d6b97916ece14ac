/** Reads members of untrusted JSON. A value of another type counts as absent. */
import type { Json, JsonObject } from '@gantry/protocol';

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const member = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

export const textAt = (value: Json | undefined, key: string): string | undefined => {
  const found = member(value, key);
  return typeof found === 'string' && found !== '' ? found : undefined;
};

export const listAt = (value: Json | undefined, key: string): readonly Json[] => {
  const found = member(value, key);
  return Array.isArray(found) ? found : [];
};

export const textsAt = (value: Json | undefined, key: string): string[] =>
  listAt(value, key).filter((item) => typeof item === 'string');

export const objectsAt = (value: Json | undefined, key: string): JsonObject[] =>
  listAt(value, key).filter(isObject);

export const entriesAt = (value: Json | undefined, key: string): [string, Json][] => {
  const found = member(value, key);
  return isObject(found) ? Object.entries(found) : [];
};

export const isTrueAt = (value: Json | undefined, key: string): boolean => member(value, key) === true;

/** The description of a name, or the name itself. */
export const wordFor = (words: Readonly<Record<string, string>>, name: string | undefined): string =>
  name !== undefined && Object.hasOwn(words, name) ? (words[name] ?? name) : (name ?? '');

export function shorten(text: string, charsMax: number): string {
  const shown = [...text.slice(0, charsMax * 2)];
  return shown.length <= charsMax && text.length <= charsMax * 2
    ? text
    : `${shown.slice(0, charsMax - 1).join('')}…`;
}
