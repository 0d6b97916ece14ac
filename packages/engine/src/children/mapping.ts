import type { Json, JsonObject } from '@gantry/protocol';
import { isObject, isReservedName, own } from '../json.ts';
import type { Preparation } from '../nodes/node-type.ts';

/** Names on the left get their value from names on the right. */
export type NameMap = { readonly [to: string]: string };

/** What a child gets from its parent's variables, and what it gives back. */
export interface Mapping {
  readonly inputs: NameMap;
  readonly outputs: NameMap;
}

/** What a node promises about its children. */
export interface ChildTerms {
  readonly mappingOf: (workflowId: string) => Mapping;
  /** Whether children end with the node. */
  readonly propagateCancellation: boolean;
}

const NAMES_MAX = 256;

/** Reads a mapping of the node's config; what is wrong with it is reported. */
export function nameMap(preparation: Preparation, key: string, value: Json | undefined): NameMap {
  if (value === undefined) return {};
  if (!isObject(value)) {
    preparation.issue(key, 'A mapping is an object from names to names');
    return {};
  }
  const names = Object.keys(value);
  if (names.length > NAMES_MAX) preparation.issue(key, `A mapping has at most ${NAMES_MAX} names`);
  for (const name of names) {
    const from = own(value, name);
    if (typeof from !== 'string' || from === '')
      preparation.issue(`${key}/${name}`, 'A mapping leads to the name of a variable');
    else if (isReservedName(name) || isReservedName(from))
      preparation.issue(`${key}/${name}`, `${isReservedName(name) ? name : from} is a reserved name`);
  }
  return value as NameMap;
}

/** Inputs of a child, from the parent's variables as they are now; `unset` names what has no value to give. */
export function mapInputs(names: NameMap, variables: JsonObject): { inputs: JsonObject; unset: string[] } {
  const inputs: JsonObject = {};
  const unset: string[] = [];
  for (const name of Object.keys(names)) {
    const value = own(variables, names[name]!);
    // Null clears a variable; a child never takes it for a value of its type.
    if (value === undefined || value === null) unset.push(name);
    else inputs[name] = value;
  }
  return { inputs, unset };
}

/** What the parent's variables become; a variable that the child does not have changes nothing. */
export function mapOutputs(names: NameMap, variables: JsonObject): JsonObject {
  const writes: JsonObject = {};
  for (const name of Object.keys(names)) {
    const value = own(variables, names[name]!);
    if (value !== undefined) writes[name] = value;
  }
  return writes;
}
