/** Parses updates of packs. Refusals are `nosql_filter_rejected`. */
import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { sameJson } from '../../text.ts';
import { equalPaths, type Filter } from '../documents/filter.ts';
import { parsePath } from '../documents/parse-filter.ts';
import { patched } from '../documents/patch.ts';

const INNER_MAX = 100;

const rejected = (message: string): OpenwopError => new OpenwopError('nosql_filter_rejected', { message });

/** Members, or `$set` with members and nothing else. A name with dots is a nested member. */
export function parseUpdate(update: JsonObject): JsonObject {
  const set = setOf(update);
  const inner = Object.keys(set).filter((name) => name.includes('.'));
  if (inner.length > INNER_MAX)
    throw rejected(
      `An update sets at most ${INNER_MAX} inner members. Replace the objects that they are in.`,
    );
  for (const name of inner)
    if (parsePath(name, 'nosql_filter_rejected')[0] === 'id')
      throw rejected('The member `id` cannot be changed. Remove it from the update.');
  refuseNested(Object.keys(set), inner);
  return set;
}

function setOf(update: JsonObject): JsonObject {
  const odd = Object.keys(update).find((name) => name.startsWith('$'));
  if (odd === undefined) return update;
  const set: Json | undefined = update.$set;
  const isSet = typeof set === 'object' && set !== null && !Array.isArray(set);
  if (isSet && Object.keys(update).length === 1 && !Object.keys(set).some((name) => name.startsWith('$')))
    return set;
  throw rejected(`The update holds "${odd.slice(0, 40)}". Send the members to replace, alone or in $set.`);
}

/** With both `a` and `a.b`, the result would depend on their order. */
function refuseNested(names: readonly string[], inner: readonly string[]): void {
  const all = new Set(names);
  for (const name of inner)
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1))
      if (all.has(name.slice(0, dot)))
        throw rejected(
          `"${name.slice(0, dot)}" and "${name}" exclude each other. Say the inner member once.`,
        );
}

/** The document that an upsert inserts if none matches: the equalities of the filter, then the update. */
export function upserted(filter: Filter, update: JsonObject): JsonObject {
  const asked = new Map<string, Json>();
  for (const [path, value] of equalPaths(filter)) {
    const name = path.join('.');
    const before = asked.get(name);
    if (before !== undefined && !sameJson(before, value))
      throw rejected(`The filter asks for two values of "${name}": no document can be made from it.`);
    asked.set(name, value);
  }
  const members: JsonObject = { ...Object.fromEntries(asked), ...update };
  const names = Object.keys(members);
  refuseNested(
    names,
    names.filter((name) => name.includes('.')),
  );
  return patched({}, members);
}
