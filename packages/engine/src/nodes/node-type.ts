import type { Json, JsonObject, RunError, WorkflowNode, WorkflowVariable } from '@gantry/protocol';
import type { Condition } from '../condition.ts';
import type { Expression } from '../expression.ts';
import type { Run } from '../run.ts';

/** One entry into a node: what it sees. */
export interface Visit {
  readonly inputs: JsonObject;
  readonly run: Run;
  /** How often the node's loop was followed since it was entered; 0 outside loops. */
  readonly iteration: number;
}

export type Result =
  | {
      readonly kind: 'completed';
      readonly outputs: JsonObject;
      readonly variables?: { readonly [name: string]: Json };
    }
  | { readonly kind: 'failed'; readonly error: RunError; readonly retryable: boolean }
  /** Completes with no outputs when the time is over. */
  | { readonly kind: 'delayed'; readonly ms: number }
  /** Comes back as a `settle` command. */
  | { readonly kind: 'dispatched' };

export type Execute = (visit: Visit) => Result;

export interface NodeType {
  readonly typeId: string;
  readonly leavesProcess?: true;
  /** Checks a node's config once, when the definition is compiled, and answers how to run it. */
  readonly prepare: (preparation: Preparation) => Execute;
}

export interface Preparation {
  readonly node: WorkflowNode;
  readonly config: JsonObject;
  readonly variables: ReadonlyMap<string, WorkflowVariable>;
  /** Reports a problem; `key` is the config key it is about. */
  issue(key: string, message: string): void;
  /** Compiles the expression under a config key. It sees `inputs` (the node's own), `variables`, `nodes`. */
  expression(key: string, text: Json): Expression | undefined;
  /** Compiles a condition over the node's inputs, written as on an edge. */
  condition(config: JsonObject): Condition | undefined;
  /** Marks an output that readers must not see in clear. */
  markSensitive(output: string): void;
}

export const completed = (outputs: JsonObject): Result => ({ kind: 'completed', outputs });

export const failed = (code: string, message: string, retryable = false): Result => ({
  kind: 'failed',
  error: { code, message },
  retryable,
});
