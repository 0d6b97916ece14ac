import type { Json, JsonObject, RunError } from '@gantry/protocol';
import { type Expression, ExpressionError, openMeter } from './expression.ts';
import type { Path } from './expression-ast.ts';
import { type Meter, pay } from './expression-functions.ts';
import { evaluate } from './inputs.ts';
import { deepEqual, includesText, isObject, jsonSize, own } from './json.ts';
import type { Plan, PlanEdge, PlanNode } from './plan.ts';
import type { Regex } from './regex.ts';
import type { EdgeVerdicts, Run } from './run.ts';

/** A constant of a definition is never larger than this. */
const SIZE_MAX = 16 * 1_048_576;

/** A compiled condition of an edge. `path` leads into the result of the source. */
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

/** Comparing stops at the first difference, so it never costs more than the size of `right`. */
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

/** `output.x` also finds `outputs.x`: authors write both, and the protocol allows both. */
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

/** How a node settled, as its edges see it. */
export type Settlement =
  | { readonly status: 'completed'; readonly outputs: JsonObject }
  | { readonly status: 'failed'; readonly error: RunError };

export interface Verdicts {
  readonly conditions?: EdgeVerdicts;
  readonly error?: RunError;
}

/** Evaluated once, when the node settles: later changes of variables do not change which edges were taken. */
export function judgeEdges(plan: Plan, node: PlanNode, run: Run, settlement: Settlement): Verdicts {
  if (node.conditional.length === 0) return {};
  const root = resultOf(settlement);
  const meter = openMeter();
  const conditions: { [edgeId: string]: boolean } = {};
  let error: RunError | undefined;
  for (const edge of node.conditional) {
    try {
      conditions[edge.id] = holds(plan, edge, run, root, meter);
    } catch (cause) {
      if (!(cause instanceof ExpressionError)) throw cause;
      conditions[edge.id] = false;
      error ??= {
        code: 'expression_failed',
        message: `The condition of the edge ${edge.id} failed: ${cause.message}`,
        details: { edgeId: edge.id },
      };
    }
  }
  return error ? { conditions, error } : { conditions };
}

function holds(plan: Plan, edge: PlanEdge, run: Run, root: JsonObject, meter: Meter): boolean {
  const condition = edge.condition!;
  if (condition.type !== 'expression') return holdsFor(condition, root, meter);
  const result = evaluate(plan, condition.expression, run, root, meter);
  if (typeof result === 'boolean') return result;
  throw new ExpressionError('A condition must be true or false.');
}

/** The result of the source, as a condition sees it. */
function resultOf(settlement: Settlement): JsonObject {
  const { status } = settlement;
  if (status === 'failed') return { status, outputs: {}, output: {}, error: settlement.error };
  const { outputs } = settlement;
  const output = own(outputs, 'output');
  return { status, outputs, output: output === undefined ? outputs : output };
}
