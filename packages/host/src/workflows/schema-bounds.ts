/**
 * Limits the cost of a JSON Schema from outside. A small schema can still be exponential, since `$ref` doubles, or
 * endless, if a reference leads back to itself without going into the value.
 */
import { isObject } from '@gantry/protocol';

const BYTES_MAX = 65_536;
const DEPTH_MAX = 32;
/** Schema nodes visited when every local `$ref` is expanded. */
const EXPANDED_MAX = 20_000;
const UNIQUE_ITEMS_MAX = 1_000;

type Schema = Record<string, unknown>;

export function schemaIssues(schema: Schema): string[] {
  if (JSON.stringify(schema).length > BYTES_MAX) return [`schema is larger than ${BYTES_MAX} bytes`];
  const shallow = shapeIssues(schema, 0);
  if (shallow.length > 0) return shallow;
  if (expandedSize(schema) > EXPANDED_MAX)
    return [`schema has more than ${EXPANDED_MAX} parts when its references are written out`];
  return endlessIssues(schema);
}

function shapeIssues(value: unknown, depth: number): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth > DEPTH_MAX) return [`schema is nested deeper than ${DEPTH_MAX}`];
  const own = isObject(value) ? keywordIssues(value) : [];
  return [...own, ...Object.values(value).flatMap((child) => shapeIssues(child, depth + 1))];
}

function keywordIssues(schema: Schema): string[] {
  const issues: string[] = [];
  if (typeof schema.$ref === 'string' && !schema.$ref.startsWith('#')) {
    issues.push('$ref may only point inside the schema');
  }
  const maxItems = typeof schema.maxItems === 'number' ? schema.maxItems : Number.POSITIVE_INFINITY;
  if (schema.uniqueItems === true && maxItems > UNIQUE_ITEMS_MAX) {
    issues.push(`uniqueItems needs a maxItems of at most ${UNIQUE_ITEMS_MAX}`);
  }
  return issues;
}

const nodesIn = (value: unknown): Schema[] =>
  typeof value === 'object' && value !== null
    ? [...(isObject(value) ? [value] : []), ...Object.values(value).flatMap(nodesIn)]
    : [];

/** The schemas that judge the same value as this one. */
function beside(root: Schema, schema: Schema): Schema[] {
  const { $ref, $dynamicRef, allOf, anyOf, oneOf, not, if: when, then, else: otherwise } = schema;
  const refs = [$ref, $dynamicRef].map((ref) => (typeof ref === 'string' ? resolve(root, ref) : undefined));
  const lists = [allOf, anyOf, oneOf].filter(Array.isArray).flat();
  const dependent = [schema.dependentSchemas, schema.dependencies].filter(isObject).flatMap(Object.values);
  return [...refs, ...lists, ...dependent, not, when, then, otherwise].filter(isObject);
}

function endlessIssues(root: Schema): string[] {
  const states = new Map<Schema, 'open' | 'ends'>();
  const isEndless = (schema: Schema): boolean => {
    const state = states.get(schema);
    if (state) return state === 'open';
    states.set(schema, 'open');
    if (beside(root, schema).some(isEndless)) return true;
    states.set(schema, 'ends');
    return false;
  };
  const first = nodesIn(root).find(isEndless);
  if (!first) return [];
  const { $ref = '' } = first;
  return [
    `a $ref (${JSON.stringify($ref)}) leads back to itself without going into the value, so no check would end`,
  ];
}

/** The part of the schema that has this anchor. */
const anchored = (root: Schema, name: string): Schema | undefined =>
  nodesIn(root).find(({ $anchor, $dynamicAnchor }) => $anchor === name || $dynamicAnchor === name);

function resolve(root: Schema, ref: string): unknown {
  if (/^#[^/]/.test(ref)) return anchored(root, ref.slice(1));
  let target: unknown = root;
  for (const part of ref.split('/').slice(1)) {
    if (typeof target !== 'object' || target === null) return undefined;
    target = Reflect.get(target, decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return target;
}

/** Size with references expanded; a recursive reference counts once, since the data limits it. */
function expandedSize(root: Schema): number {
  const sizes = new Map<unknown, number>();
  const visit = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    const known = sizes.get(value);
    if (known !== undefined) return known;
    sizes.set(value, 1);
    let size = 1;
    for (const child of Object.values(value)) size += visit(child);
    if (isObject(value) && typeof value.$ref === 'string') size += visit(resolve(root, value.$ref));
    sizes.set(value, Math.min(size, EXPANDED_MAX + 1));
    return size;
  };
  return visit(root);
}
