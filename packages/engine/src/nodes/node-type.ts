import type {
  Json,
  JsonObject,
  RunError,
  WorkflowDefinition,
  WorkflowNode,
  WorkflowVariable,
} from '@gantry/protocol';
import type { EndedChild } from '../children/child.ts';
import type { ChildTerms } from '../children/mapping.ts';
import type { Condition } from '../condition.ts';
import type { Expression } from '../expression.ts';
import type { Answer } from '../interrupt/interrupt.ts';
import type { PlanNode } from '../plan.ts';
import type { Run } from '../run.ts';
import type { SchemaCheck } from '../schema.ts';
import type { Step } from '../step.ts';
import type { PackNodeType } from './pack-node.ts';

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
  | { readonly kind: 'dispatched' }
  /** Goes on by itself once `node.started` is written: suspends, starts children, completes, ... */
  | { readonly kind: 'acts'; readonly act: (step: Step, node: PlanNode) => void };

export type Execute = (visit: Visit) => Result;

/** What a node does beside starting. */
export interface Behaviour {
  readonly execute: Execute;
  /** An interrupt of the node was answered; the node runs again, and this goes on with it. */
  readonly answered?: (step: Step, node: PlanNode, answer: Answer) => void;
  /** A child of the node's present visit ended and is noted as ended. */
  readonly childEnded?: (step: Step, node: PlanNode, child: EndedChild) => void;
  /** Given by nodes that have children. */
  readonly children?: ChildTerms;
}

export interface NodeType {
  readonly typeId: string;
  readonly leavesProcess?: true;
  /** A pack that brings the type serves it instead: published packs do. */
  readonly yields?: true;
  /** It asks for approval: artifacts before it that wait for one are stored when it is given. */
  readonly reviews?: true;
  /** The output that its artifact is; `artifact` when absent. */
  readonly artifactOutput?: string;
  /** Given by types that come from a pack. */
  readonly pack?: PackNodeType;
  /** All that it has, where that is known. */
  readonly outputs?: readonly string[];
  /** Checks a node's config once, when the definition is compiled, and answers how to run it. */
  readonly prepare: (preparation: Preparation) => Execute | Behaviour;
}

export interface Preparation {
  readonly node: WorkflowNode;
  readonly config: JsonObject;
  readonly definition: WorkflowDefinition;
  readonly variables: ReadonlyMap<string, WorkflowVariable>;
  /** Reports a problem; `key` is the config key it is about. A capability named is what the host lacks. */
  issue(key: string, message: string, requiredCapability?: string): void;
  /** Compiles the expression under a config key. It sees `inputs` (the node's own), `variables`, `nodes`. */
  expression(key: string, text: Json): Expression | undefined;
  /** Compiles a condition over the node's inputs, written as on an edge. */
  condition(config: JsonObject): Condition | undefined;
  /** Compiles a JSON Schema that answers or values are held to; undefined when it cannot be used. */
  schema(key: string, schema: Json): SchemaCheck | undefined;
  /** Marks an output that readers must not see in clear. */
  markSensitive(output: string): void;
}

export const completed = (outputs: JsonObject): Result => ({ kind: 'completed', outputs });

export const failed = (code: string, message: string, retryable = false): Result => ({
  kind: 'failed',
  error: { code, message },
  retryable,
});
