/**
 * Writes workflow definitions in TypeScript: ids, variables, channels and the settings of core nodes are checked by the
 * compiler. What it makes is the JSON of the definition, in the short form.
 *
 * @example
 * const flow = workflow({ id: 'hello', name: 'Hello', version: '1.0.0', variables: { name: { type: 'string' } } });
 * flow.node('greet', 'core.end', { inputs: { greeting: expression("'Hello, ' + variables.name") } });
 * await client.workflows.register(flow);
 */
import type {
  ChannelDeclaration,
  EdgeCondition,
  Json,
  PortValue,
  ShortNode,
  ShortWorkflow,
  TriggerRule,
  WorkflowEdge,
  WorkflowVariable,
} from '@gantry/protocol';
import type { NodeConfigs, NodeOutputs } from './node-configs.ts';

export type { NodeConfigs, NodeOutputs } from './node-configs.ts';

type Port<Type extends PortValue['type']> = Extract<PortValue, { readonly type: Type }>;
type VariablePort<Name extends string> = Port<'variable'> & { readonly variableName: Name };

/** A text, number, boolean or null is a constant; `value` makes one of anything else. */
export type Input<Variable extends string> =
  | string
  | number
  | boolean
  | null
  | Port<'static' | 'expression' | 'connection'>
  | VariablePort<Variable>;

export const value = (constant: Json): Port<'static'> => ({ type: 'static', value: constant });

export const expression = (text: string): Port<'expression'> => ({ type: 'expression', expression: text });

interface Optional {
  /** The input stays empty if there is no value; otherwise the node fails. */
  readonly optional?: true;
}

export const variable = <Name extends string>(name: Name, options: Optional = {}): VariablePort<Name> => ({
  type: 'variable',
  variableName: name,
  ...options,
});

type OutputOf<Type> = Type extends keyof NodeOutputs ? NodeOutputs[Type] : string;

/** A node of this workflow, as edges and inputs refer to it. */
export interface NodeRef<Type extends string = string> {
  readonly id: string;
  /** An output of the node, as an input of another. */
  output(name: OutputOf<Type>, options?: Optional): Port<'connection'>;
}

type NodeMembers<Variable extends string> = Partial<
  Omit<ShortNode, 'id' | 'typeId' | 'inputs' | 'config'>
> & {
  readonly inputs?: { readonly [name: string]: Input<Variable> };
};

/** `config` can be omitted if nothing in it is required. */
type WithConfig<Config> =
  Record<string, never> extends Config ? { readonly config?: Config } : { readonly config: Config };

export interface EdgeMembers {
  /** `source-target` by default. Of edges with different rules into one node, that with the lowest id decides. */
  readonly id?: string;
  /** The edge is taken only if this holds; a text is an expression. */
  readonly when?: string | EdgeCondition;
  readonly rule?: TriggerRule;
  readonly sourceOutput?: string;
  readonly targetInput?: string;
  readonly label?: string;
}

export const truthy = (left: string): EdgeCondition => ({ type: 'truthy', left });
export const falsy = (left: string): EdgeCondition => ({ type: 'falsy', left });

type VariableMembers = Omit<WorkflowVariable, 'name'>;

export interface WorkflowMembers<Variable extends string, Channel extends string>
  extends Omit<ShortWorkflow, 'nodes' | 'edges' | 'variables' | 'channels'> {
  readonly variables?: { readonly [name in Variable]: VariableMembers };
  readonly channels?: { readonly [name in Channel]: ChannelDeclaration };
}

export interface Workflow<Variable extends string, Channel extends string> {
  /** Adds a node of a core type. */
  node<Type extends keyof NodeConfigs<Variable, Channel>>(
    id: string,
    typeId: Type,
    ...members: Record<string, never> extends NodeConfigs<Variable, Channel>[Type]
      ? [(NodeMembers<Variable> & WithConfig<NodeConfigs<Variable, Channel>[Type]>)?]
      : [NodeMembers<Variable> & WithConfig<NodeConfigs<Variable, Channel>[Type]>]
  ): NodeRef<Type>;
  /** Adds a node whose type comes from a pack. */
  packNode(
    id: string,
    typeId: string,
    members?: NodeMembers<Variable> & { readonly config?: { readonly [name: string]: Json } },
  ): NodeRef;
  edge(source: NodeRef, target: NodeRef, members?: EdgeMembers): void;
  /** The definition. `JSON.stringify` and the client call it. */
  toJSON(): ShortWorkflow;
}

/** Begins a workflow. Throws if an id is used twice; everything else is found by `workflows.check`. */
export function workflow<Variable extends string = never, Channel extends string = never>(
  members: WorkflowMembers<Variable, Channel>,
): Workflow<Variable, Channel> {
  const nodes = new Map<string, ShortNode>();
  const edges = new Map<string, WorkflowEdge>();
  const { variables, ...rest } = members;

  function add(id: string, typeId: string, given: NodeMembers<Variable> & { config?: object } = {}): NodeRef {
    const { name = id, inputs, ...more } = given;
    const ports = inputs && Object.entries(inputs).map(([port, input]) => [port, portOf(input)]);
    const node = { id, typeId, name, ...more, ...(ports && { inputs: Object.fromEntries(ports) }) };
    put(nodes, 'node', node as ShortNode);
    return {
      id,
      output: (outputKey, options = {}) => ({ type: 'connection', nodeId: id, outputKey, ...options }),
    };
  }

  return {
    node: (id, typeId, ...[given]) => add(id, typeId, given),
    packNode: add,
    edge(source, target, { id = `${source.id}-${target.id}`, when, rule, ...more } = {}) {
      const condition = typeof when === 'string' ? { type: 'expression' as const, expression: when } : when;
      put(edges, 'edge', {
        id,
        sourceNodeId: source.id,
        targetNodeId: target.id,
        ...more,
        ...(condition && { condition }),
        ...(rule && { triggerRule: rule }),
      });
    },
    toJSON: () => ({
      ...rest,
      ...(variables && { variables: named(variables) }),
      nodes: [...nodes.values()],
      ...(edges.size > 0 && { edges: [...edges.values()] }),
    }),
  };
}

function put<Part extends { readonly id: string }>(parts: Map<string, Part>, what: string, part: Part): void {
  if (parts.has(part.id)) throw new Error(`The id ${part.id} is used by two ${what}s.`);
  parts.set(part.id, part);
}

const named = (variables: { readonly [name: string]: VariableMembers }): WorkflowVariable[] =>
  Object.entries(variables).map(([name, members]) => ({ name, ...members }));

const portOf = (input: Input<string>): PortValue =>
  typeof input === 'object' && input !== null ? input : value(input);
