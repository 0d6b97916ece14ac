import type {
  ChannelDeclaration,
  Json,
  JsonObject,
  TriggerRule,
  WorkflowDefinition,
  WorkflowNode,
  WorkflowVariable,
} from '@gantry/protocol';
import type { NodeArtifact } from './artifacts/node-artifact.ts';
import type { Condition } from './condition.ts';
import type { Expression } from './expression.ts';
import type { Mask, Sha256 } from './mask.ts';
import type { Behaviour } from './nodes/node-type.ts';
import type { PackNodeType } from './nodes/pack-node.ts';
import type { Redact } from './redact.ts';
import type { CompileSchema, SchemaCheck } from './schema.ts';

/** A definition that is ready to run: indexed, ordered, with compiled conditions and expressions. */
export interface Plan {
  readonly definition: WorkflowDefinition;
  /** Probable mistakes of the author. */
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
  readonly nodes: ReadonlyMap<string, PlanNode>;
  /** All nodes in drain order: by depth, then by id. Forward edges always point to a later node. */
  readonly order: readonly PlanNode[];
  /** The nodes that work outside the process, and the nodes that have back-edges. */
  readonly outside: readonly PlanNode[];
  readonly looping: readonly PlanNode[];
  readonly loops: readonly Loop[];
  readonly variables: ReadonlyMap<string, WorkflowVariable>;
  readonly mask: Mask;
  /** Removes known secrets from all events; absent while none is known. Not part of the definition. */
  readonly redact?: Redact;
  readonly channels: ReadonlyMap<string, PlanChannel>;
  /** For schemas that are part of the data, not of the definition. */
  readonly compileSchema: CompileSchema;
  readonly sha256?: Sha256;
  /** The author's time limit for a whole run. */
  readonly timeoutMs?: number;
}

export interface PlanNode {
  readonly id: string;
  readonly typeId: string;
  readonly definition: WorkflowNode;
  /** Position in drain order. */
  readonly index: number;
  readonly disabled: boolean;
  readonly behaviour: Behaviour;
  /** Its work is done outside the process and returns as a `settle` command. */
  readonly leavesProcess: boolean;
  /** The pack that its code comes from. */
  readonly pack?: PackNodeType;
  /** The artifact that its outputs are stored as. */
  readonly artifact?: NodeArtifact;
  /** It requests approval of artifacts of earlier nodes. */
  readonly reviews: boolean;
  /** Its resolved inputs are part of the log, because another process or attempt needs the same ones. */
  readonly keepsInputs: boolean;
  readonly inputs: readonly InputPort[];
  /** Evaluated over the forward edges. A node without any is ready at the start. */
  readonly rule: TriggerRule;
  readonly incoming: readonly PlanEdge[];
  readonly outgoing: readonly PlanEdge[];
  /** Back-edges to this node, and back-edges from it. */
  readonly loopbacksIn: readonly PlanEdge[];
  readonly loopbacksOut: readonly PlanEdge[];
  /** Outgoing edges of both kinds that have a condition. */
  readonly conditional: readonly PlanEdge[];
  readonly retry: RetryPolicy;
  readonly sensitiveOutputs: ReadonlySet<string>;
  /** Channels that its expressions, and those of its outgoing edges, read. */
  readonly channelReads: ReadonlySet<string>;
}

export interface PlanEdge {
  readonly id: string;
  readonly source: PlanNode;
  readonly target: PlanNode;
  readonly sourceOutput: string;
  readonly targetInput: string;
  readonly condition?: Condition;
  /** The target handles a failure of the source that takes this edge. */
  readonly handlesFailure: boolean;
  /** The loop that this edge closes. */
  readonly loop?: Loop;
  /** How often this edge may be followed each time its loop is entered. */
  readonly loopbacksMax: number;
  /** Loops that this edge leads out of. */
  readonly exits: readonly Loop[];
}

/** The nodes that run again when a loop is followed back to its head; inner loops are part of the outer. */
export interface Loop {
  readonly head: PlanNode;
  readonly body: readonly PlanNode[];
  readonly bodyIds: readonly string[];
  /** Back-edges of inner loops: their counts are reset. */
  readonly innerEdgeIds: readonly string[];
}

export interface PlanChannel {
  readonly name: string;
  readonly declaration: ChannelDeclaration;
  /** Where it is declared: the workflow's `channels`, or the config of the nodes that write to it. */
  readonly origin: 'declared' | 'node';
  /** The value before the first write. */
  readonly initial?: Json;
  /** Applied to every write; undefined when the channel declares no schema. */
  readonly check?: SchemaCheck;
}

export type InputPort =
  | { readonly type: 'static'; readonly name: string; readonly value: Json }
  | { readonly type: 'expression'; readonly name: string; readonly expression: Expression }
  | {
      readonly type: 'connection';
      readonly name: string;
      readonly nodeId: string;
      readonly outputKey: string;
      readonly optional: boolean;
    }
  | {
      readonly type: 'variable';
      readonly name: string;
      readonly variableName: string;
      readonly optional: boolean;
    };

export interface RetryPolicy {
  readonly maxRetries: number;
  readonly backoffMs: number;
  readonly backoffFactor: number;
  readonly maxBackoffMs: number;
  readonly timeoutMs?: number;
}

export const nodeConfig = (node: PlanNode): JsonObject => node.definition.config as JsonObject;
