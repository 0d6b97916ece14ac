import type { JsonObject, RunError } from '@gantry/protocol';
import { holdsFor } from './condition.ts';
import { ExpressionError, type Meter, openMeter } from './expression.ts';
import { evaluate } from './inputs.ts';
import { own } from './json.ts';
import type { Plan, PlanEdge, PlanNode } from './plan.ts';
import type { EdgeVerdicts, Run } from './run.ts';

/** How a node settled, as far as its edges are concerned. */
export type Settlement =
  | { readonly status: 'completed'; readonly outputs: JsonObject }
  | { readonly status: 'failed'; readonly error: RunError };

export interface Verdicts {
  readonly conditions?: EdgeVerdicts;
  readonly error?: RunError;
}

/** Judged once, when the node settles: a variable that changes later does not change which way was taken. */
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

/** What a condition sees of its source. */
function resultOf(settlement: Settlement): JsonObject {
  const { status } = settlement;
  if (status === 'failed') return { status, outputs: {}, output: {}, error: settlement.error };
  const { outputs } = settlement;
  const output = own(outputs, 'output');
  return { status, outputs, output: output === undefined ? outputs : output };
}
