/** Applies a patch to a document, the same in every backend. Threads load this file. */
import type { Json, JsonObject } from '@gantry/protocol';
import { Refusal } from '../../refusal.ts';

const isInner = (name: string): boolean => name.includes('.');

/** Replaces members; `x.y` is the member `y` of the object `x`, which is created if missing. */
export function patched(document: JsonObject, patch: JsonObject): JsonObject {
  const names = Object.keys(patch).filter(isInner);
  if (names.length === 0) return { ...document, ...patch };
  const outer = Object.fromEntries(Object.entries(patch).filter(([name]) => !isInner(name)));
  return names.reduce((made, name) => withInner(made, name, patch[name]!), { ...document, ...outer });
}

function withInner(document: JsonObject, name: string, value: Json): JsonObject {
  const set = (object: JsonObject, [first = '', ...inner]: readonly string[]): JsonObject => ({
    ...object,
    [first]: inner.length === 0 ? value : set(objectIn(object, first, name), inner),
  });
  return set(document, name.split('.'));
}

function objectIn(object: JsonObject, member: string, name: string): JsonObject {
  const there: Json | undefined = Object.hasOwn(object, member) ? object[member] : {};
  if (typeof there === 'object' && there !== null && !Array.isArray(there)) return there;
  throw new Refusal('validation_error', {
    message:
      `"${name}" cannot be set: "${member}" is not an object. Replace "${member}" as a whole, or choose ` +
      'documents that have none or an object there.',
  });
}
