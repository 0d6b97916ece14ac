import type { Json, JsonObject } from '@gantry/protocol';
import { type Expression, ExpressionError } from './expression.ts';
import { deepEqual, includesText, isObject } from './json.ts';
import { REGEX_LIMITS, type Regex } from './regex.ts';

/** An edge's condition, ready to be judged. `path` leads into the source's result. */
export type Condition =
  | { readonly type: 'expression'; readonly expression: Expression }
  | { readonly type: 'equals' | 'notEquals' | 'contains'; readonly path: Path; readonly right: Json }
  | { readonly type: 'regex'; readonly path: Path; readonly regex: Regex }
  | { readonly type: 'truthy' | 'falsy'; readonly path: Path };

export type Path = readonly string[];
export type PathCondition = Exclude<Condition, { type: 'expression' }>;

/** Throws `ExpressionError` only. */
export function holdsFor(condition: PathCondition, root: JsonObject): boolean {
  const value = resolvePath(root, condition.path);
  switch (condition.type) {
    case 'equals':
      return deepEqual(value, condition.right);
    case 'notEquals':
      return !deepEqual(value, condition.right);
    case 'contains':
      return contains(value, condition.right);
    case 'regex':
      return matches(value, condition.regex);
    case 'truthy':
      return Boolean(value);
    case 'falsy':
      return !value;
  }
}

function contains(value: Json | undefined, right: Json): boolean {
  if (Array.isArray(value)) return value.some((item) => deepEqual(item, right));
  return typeof value === 'string' && typeof right === 'string' && includesText(value, right);
}

function matches(value: Json | undefined, regex: Regex): boolean {
  if (typeof value !== 'string') return false;
  if (regex.work(value.length) > REGEX_LIMITS.workMax)
    throw new ExpressionError('The text is too long for this pattern.');
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
