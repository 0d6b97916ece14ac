import { type JsonObject, OpenwopError } from '@gantry/protocol';

/** `{ name: 1 }` gives the named members and the `id`, `{ name: 0 }` leaves them out. */
export function projected(projection: JsonObject): (document: JsonObject) => JsonObject {
  const names = Object.keys(projection);
  if (names.length === 0) return (document) => document;
  const kinds = new Set(Object.values(projection).map((kind) => kind === 1 || kind === true));
  const isOdd = Object.values(projection).some(
    (kind) => ![0, 1, true, false].includes(kind as number | boolean),
  );
  if (isOdd || kinds.size > 1 || names.some((name) => name.startsWith('$') || name.includes('.')))
    throw new OpenwopError('nosql_filter_rejected', {
      message: 'A projection names members of a document, all with 1 or all with 0.',
    });
  const given = kinds.has(true) ? new Set([...names, 'id']) : null;
  return (document) =>
    Object.fromEntries(
      Object.entries(document).filter(([name]) => (given ? given.has(name) : !names.includes(name))),
    );
}
