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

/** One entry into a node, as its code sees it. */
export interface Visit {
  readonly inputs: JsonObject;
  readonly run: Run;
  /** The number of times that the node's loop was followed since it was entered; 0 outside loops. */
  readonly iteration: number;
}

export type Result =
  | {
      readonly kind: 'completed';
      readonly outputs: JsonObject;
      readonly variables?: { readonly [name: string]: Json };
    }
  | { readonly kind: 'failed'; readonly error: RunError; readonly retryable: boolean }
  /** Completes without outputs after `ms`. */
  | { readonly kind: 'delayed'; readonly ms: number }
  /** Returns as a `settle` command. */
  | { readonly kind: 'dispatched' }
  /** Runs `act` after `node.started` is written: suspends, starts children, completes, ... */
  | { readonly kind: 'acts'; readonly act: (step: Step, node: PlanNode) => void };

export type Execute = (visit: Visit) => Result;

/** The behaviour of a node when it starts and afterwards. */
export interface Behaviour {
  readonly execute: Execute;
  /** An interrupt of the node was answered; the node is running again, and this continues it. */
  readonly answered?: (step: Step, node: PlanNode, answer: Answer) => void;
  /** A child of the node's current visit has ended, and its end is recorded. */
  readonly childEnded?: (step: Step, node: PlanNode, child: EndedChild) => void;
  /** Set by nodes that have children. */
  readonly children?: ChildTerms;
}

export interface NodeType {
  readonly typeId: string;
  readonly leavesProcess?: true;
  /** A pack that provides the type replaces it, as published packs do. */
  readonly yields?: true;
  /** It requests approval: artifacts of earlier nodes that wait for one are stored when it is granted. */
  readonly reviews?: true;
  /** The output that is its artifact; defaults to `artifact`. */
  readonly artifactOutput?: string;
  /** Set by types that come from a pack. */
  readonly pack?: PackNodeType;
  /** The names of all its outputs, if they are known; it may repeat its inputs or the variables. */
  readonly outputs?: readonly string[] | 'inputs' | 'variables';
  /** Checks a node's config once, when the definition is compiled, and returns how to run it. */
  readonly prepare: (preparation: Preparation) => Execute | Behaviour;
}

export interface Preparation {
  readonly node: WorkflowNode;
  readonly config: JsonObject;
  readonly definition: WorkflowDefinition;
  readonly variables: ReadonlyMap<string, WorkflowVariable>;
  /**
   * Reports a problem; `key` is the config key it is about. `requiredCapability` is a capability that the host lacks.
   */
  issue(key: string, message: string, requiredCapability?: string): void;
  /** Reports a name that is not among the known ones, and suggests one. */
  unknown(key: string, message: string, word: string, known: Iterable<string>): void;
  /** Warns of a variable of a mapping that the workflow does not declare, and for `inputs` does not write either. */
  checkVariable(key: string, name: string, direction: 'inputs' | 'outputs'): void;
  /** Compiles the expression under a config key. It can use `inputs` (the node's own), `variables`, `nodes`. */
  expression(key: string, text: Json): Expression | undefined;
  /** Compiles a condition over the node's inputs, written as on an edge. */
  condition(config: JsonObject): Condition | undefined;
  /** Compiles a JSON Schema for answers or values; undefined when it is not usable. */
  schema(key: string, schema: Json): SchemaCheck | undefined;
  /** Marks an output that readers must see only masked. */
  markSensitive(output: string): void;
}

export const completed = (outputs: JsonObject): Result => ({ kind: 'completed', outputs });

export const failed = (code: string, message: string, retryable = false): Result => ({
  kind: 'failed',
  error: { code, message },
  retryable,
});
