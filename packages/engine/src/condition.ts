import type { Json, JsonObject } from '@gantry/protocol';
import type { Expression } from './expression.ts';
import type { Path } from './expression-ast.ts';
import { type Meter, pay } from './expression-functions.ts';
import { deepEqual, includesText, isObject, jsonSize } from './json.ts';
import type { Regex } from './regex.ts';

/** A constant of a definition is never larger than this. */
const SIZE_MAX = 16 * 1_048_576;

/** An edge's condition, ready to be judged. `path` leads into the source's result. */
export type Condition =
  | { readonly type: 'expression'; readonly expression: Expression }
  | { readonly type: 'equals' | 'notEquals' | 'contains'; readonly path: Path; readonly right: Json }
  | { readonly type: 'regex'; readonly path: Path; readonly regex: Regex }
  | { readonly type: 'truthy' | 'falsy'; readonly path: Path };

export type PathCondition = Exclude<Condition, { type: 'expression' }>;

/** Throws `ExpressionError` only. */
export function holdsFor(condition: PathCondition, root: JsonObject, meter: Meter): boolean {
  const value = resolvePath(root, condition.path);
  switch (condition.type) {
    case 'equals':
      return isEqual(value, condition.right, meter);
    case 'notEquals':
      return !isEqual(value, condition.right, meter);
    case 'contains':
      return contains(value, condition.right, meter);
    case 'regex':
      return matches(value, condition.regex, meter);
    case 'truthy':
      return Boolean(value);
    case 'falsy':
      return !value;
  }
}

/** Comparing stops at the first difference, so it never costs more than the size of what is asked for. */
function isEqual(value: Json | undefined, right: Json, meter: Meter): boolean {
  pay({ meter }, 1 + (jsonSize(right, SIZE_MAX) >> 2));
  return deepEqual(value, right);
}

function contains(value: Json | undefined, right: Json, meter: Meter): boolean {
  if (Array.isArray(value)) return value.some((item) => isEqual(item, right, meter));
  if (typeof value !== 'string' || typeof right !== 'string') return false;
  pay({ meter }, 1 + ((value.length + right.length) >> 2));
  return includesText(value, right);
}

function matches(value: Json | undefined, regex: Regex, meter: Meter): boolean {
  if (typeof value !== 'string') return false;
  pay({ meter }, regex.work(value.length));
  return regex.test(value);
}

/** `output.x` also finds `outputs.x`: authors write either, and the protocol does not choose. */
function resolvePath(root: JsonObject, path: Path): Json | undefined {
  const found = walk(root, path, 0);
  if (found !== undefined || path[0] !== 'output') return found;
  return walk(root.outputs, path, 1);
}

function walk(start: Json | undefined, path: Path, from: number): Json | undefined {
  let value = start;
  for (let i = from; i < path.length; i++) {
    const key = path[i]!;
    if (isObject(value)) value = Object.hasOwn(value, key) ? value[key] : undefined;
    else if (Array.isArray(value)) value = value[Number(key)];
    else return undefined;
  }
  return value;
}
