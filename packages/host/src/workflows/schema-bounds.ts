/** Limits the cost of a JSON Schema from outside. A small schema can still be exponential: `$ref` doubles. */
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
  return expandedSize(schema) > EXPANDED_MAX
    ? [`schema has more than ${EXPANDED_MAX} parts when its references are written out`]
    : [];
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

function resolve(root: Schema, ref: string): unknown {
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
