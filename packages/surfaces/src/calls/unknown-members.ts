/**
 * Members that a schema does not have. Whoever sends one means something by it, and it would not happen: `ttl` beside
 * `ttlSeconds` keeps a key for good.
 */
import { didYouMean, type Problem } from '@gantry/protocol';
import type { TSchema } from 'typebox';
import { type Data, isObject } from './data.ts';

const NAME_SHOWN_MAX = 64;

interface Shaped {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

/**
 * The first, also in lists and objects whose members the schema names; null where there is none. What a schema leaves
 * free, such as a document, is not looked into. `also` is known beside the members of the outermost object.
 */
export function unknownMember(
  schema: TSchema,
  value: Data | undefined,
  also: readonly string[] = [],
  at = '',
): Problem | null {
  const { properties, items } = schema as Shaped;
  if (items && Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      const found = unknownMember(items, each, [], `${at}/${index}`);
      if (found) return found;
    }
  }
  if (!properties || !isObject(value)) return null;
  for (const [name, member] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inner === undefined && member !== undefined && !also.includes(name))
      return unknown(name.slice(0, NAME_SHOWN_MAX), Object.keys(properties), also, at);
    const found = inner && unknownMember(inner, member, [], `${at}/${name}`);
    if (found) return found;
  }
  return null;
}

const unknown = (name: string, known: readonly string[], also: readonly string[], at: string): Problem => ({
  field: at,
  problem:
    `takes no \`${name}\`.${didYouMean(name, [...known, ...also])} ` +
    (known.length === 0 ? 'It takes nothing' : `It takes ${known.join(', ')}`),
});
