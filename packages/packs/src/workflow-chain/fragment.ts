import {
  type EdgeCondition,
  invalid,
  type Json,
  type JsonObject,
  lazyValidator,
  PortValue,
  type WorkflowEdge,
  type WorkflowNode,
} from '@gantry/protocol';
import { asJson, mapObjectStrings, mapStrings } from '../json.ts';
import type { ChainCapability, FragmentEdge, FragmentNode, WorkflowChain } from './chain.ts';
import { bindSubChains, type ChildIds } from './check-chain.ts';
import { type Substitution, wholeToken } from './parameters.ts';

/** An expanded node in the form of the manifest, as the expansion seam of the protocol answers it. */
export type ExpandedFragmentNode = Omit<FragmentNode, 'config' | 'inputs' | 'compensation'> & {
  readonly config?: JsonObject;
  readonly inputs?: JsonObject;
  readonly compensation?: JsonObject;
  readonly capabilities?: readonly ChainCapability[];
};

export type ExpandedFragmentEdge = Omit<FragmentEdge, 'condition'> & { readonly condition?: EdgeCondition };

/** Distance between nodes that came without a place of their own. */
const COLUMN_WIDTH = 240;

interface FragmentContext {
  readonly chain: WorkflowChain;
  readonly ids: NodeIds;
  readonly binding: ParameterBinding;
  readonly children: ChildIds | undefined;
}

export function expandNode(
  context: FragmentContext,
  source: FragmentNode,
  column: number,
): { fragment: ExpandedFragmentNode; node: WorkflowNode } {
  const { chain, ids, binding } = context;
  const inputs = nodeInputs(source, ids, binding);
  const id = ids.renamed(source.id);
  const { typeId } = source;
  const name = source.name === undefined ? undefined : binding.values.text(source.name);
  const config = source.config && expandConfig(context, source.config);
  const capabilities = chain.capabilities?.length ? [...chain.capabilities] : undefined;
  const carried = {
    ...(source.compensation && {
      compensation: expandCompensation(source.compensation, ids, binding.values),
    }),
    ...(source.irreversibleEffect !== undefined && { irreversibleEffect: source.irreversibleEffect }),
  };
  return {
    fragment: {
      id,
      typeId,
      ...(name !== undefined && { name }),
      ...(source.position && { position: source.position }),
      ...(config && { config }),
      ...(source.inputs && { inputs: inputs.plain }),
      ...carried,
      ...(capabilities && { capabilities }),
    },
    node: {
      id,
      typeId,
      name: name || source.id,
      position: { x: source.position?.x ?? column * COLUMN_WIDTH, y: source.position?.y ?? 0 },
      config: config ?? {},
      inputs: inputs.ports,
      ...carried,
      // A definition's node is closed and has no `capabilities`; its settings are open.
      ...(capabilities && { settings: { capabilities } }),
    },
  };
}

function expandConfig({ chain, binding, children }: FragmentContext, config: object): JsonObject {
  const { subChainRef, ...rest } = config as JsonObject;
  const filled = mapObjectStrings(rest, binding.values.value);
  return subChainRef === undefined ? filled : { ...filled, ...bindSubChains(chain, subChainRef, children) };
}

/** References are renamed before values are filled in: a value that reads like one is data. */
function expandCompensation(
  { inputMapping, ...rest }: NonNullable<FragmentNode['compensation']>,
  ids: NodeIds,
  values: Substitution,
): JsonObject {
  const carried = mapObjectStrings(rest as JsonObject, values.value);
  if (inputMapping === undefined) return carried;
  return {
    ...carried,
    inputMapping: mapObjectStrings(ids.inMapping(inputMapping as JsonObject), values.value),
  };
}

export function expandEdge(
  { ids, binding }: FragmentContext,
  source: FragmentEdge,
  index: number,
): { fragment: ExpandedFragmentEdge; edge: WorkflowEdge } {
  const from = ids.endpoint(source.from);
  const to = ids.endpoint(source.to);
  const rules = {
    ...(source.condition !== undefined && { condition: expandCondition(source.condition, binding.values) }),
    ...(source.triggerRule !== undefined && { triggerRule: source.triggerRule }),
  };
  return {
    fragment: { from: written(from), to: written(to), ...rules },
    edge: {
      id: `${ids.prefix}edge-${index}`,
      sourceNodeId: from.nodeId,
      sourceOutput: from.port ?? 'output',
      targetNodeId: to.nodeId,
      targetInput: to.port ?? 'input',
      ...rules,
    },
  };
}

const written = ({ nodeId, port }: Endpoint): string => (port === undefined ? nodeId : `${nodeId}.${port}`);

function expandCondition(
  source: NonNullable<FragmentEdge['condition']>,
  { text, value }: Substitution,
): EdgeCondition {
  if (typeof source === 'string') return { type: 'expression', expression: text(source) };
  return {
    ...source,
    ...(source.left !== undefined && { left: text(source.left) }),
    ...(source.right !== undefined && { right: mapStrings(asJson(source.right), value) }),
    ...(source.expression !== undefined && { expression: text(source.expression) }),
  };
}

export type VariablePort = Extract<PortValue, { type: 'variable' }>;

/** How a chain's parameters reach a node. */
export interface ParameterBinding {
  /** What is written down now. */
  readonly values: Substitution;
  /** The variable that brings a parameter to an input at run time; undefined when it is written down. */
  readonly variable: (parameter: string) => VariablePort | undefined;
}

/** An input as the definition has it, and as the manifest's own form has it. */
interface ChainInput {
  readonly port: PortValue;
  readonly plain: Json;
}

const portSchema = lazyValidator(PortValue);

/**
 * What is a port is decided before values are filled in: a parameter is data, and cannot turn an input
 * into an expression or into a read of a variable.
 */
function nodeInputs(node: FragmentNode, ids: NodeIds, binding: ParameterBinding) {
  const inputs = Object.entries(node.inputs ?? {}).map(([name, template]) => {
    const input = portSchema.Check(template)
      ? boundInput(node, name, boundPort(template, ids, binding))
      : plainInput(asJson(template), binding);
    return { name, ...input };
  });
  return {
    ports: Object.fromEntries(inputs.map(({ name, port }) => [name, port])),
    plain: Object.fromEntries(inputs.map(({ name, plain }) => [name, plain])),
  };
}

function boundInput(node: FragmentNode, input: string, port: PortValue): ChainInput {
  if (portSchema.Check(port)) return { port, plain: asJson(port) };
  throw invalid(`With the parameters filled in, the input ${input} of the node ${node.id} names nothing.`, {
    nodeId: node.id,
    input,
  });
}

function plainInput(template: Json, binding: ParameterBinding): ChainInput {
  const parameter = typeof template === 'string' ? wholeToken(template) : undefined;
  const variable = parameter === undefined ? undefined : binding.variable(parameter);
  if (variable) return { port: variable, plain: asJson(variable) };
  const plain = mapStrings(template, binding.values.value);
  return { port: { type: 'static', value: plain }, plain };
}

function boundPort(template: PortValue, ids: NodeIds, binding: ParameterBinding): PortValue {
  const { text } = binding.values;
  switch (template.type) {
    case 'static':
      return plainInput(asJson(template.value), binding).port;
    case 'expression':
      return { ...template, expression: text(template.expression) };
    case 'connection':
      return { ...template, nodeId: ids.renamed(text(template.nodeId)), outputKey: text(template.outputKey) };
    case 'variable': {
      const variableName = text(template.variableName);
      return { ...template, variableName: binding.variable(variableName)?.variableName ?? variableName };
    }
  }
}

/** `<chainId with dots as underscores>_<expansionId>_`, in front of every id that an expansion makes. */
export const expansionPrefix = (chainId: string, expansionId: string): string =>
  `${chainId.replaceAll('.', '_')}_${expansionId}_`;

const NODE_REFERENCE = /(?<![\w.-])nodes\.([A-Za-z0-9_-]+)/g;

interface Endpoint {
  readonly nodeId: string;
  readonly port: string | undefined;
}

/** The ids of a fragment's nodes, and what they become. Ids from elsewhere stay as they are. */
export class NodeIds {
  readonly #ids: ReadonlySet<string>;
  readonly prefix: string;

  constructor(chain: WorkflowChain, expansionId: string) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(expansionId)) throw new Error(`not an expansion id: ${expansionId}`);
    this.#ids = new Set(chain.dag.nodes.map(({ id }) => id));
    this.prefix = expansionPrefix(chain.chainId, expansionId);
  }

  renamed(id: string): string {
    return this.#ids.has(id) ? this.prefix + id : id;
  }

  /** `node` or `node.port`. An id may hold a dot, so the whole text is tried first. */
  endpoint(reference: string): Endpoint {
    const dot = reference.indexOf('.');
    if (dot === -1 || this.#ids.has(reference)) return { nodeId: this.renamed(reference), port: undefined };
    return { nodeId: this.renamed(reference.slice(0, dot)), port: reference.slice(dot + 1) };
  }

  /** Renames `nodes.<id>` in the texts of an input mapping. */
  inMapping(mapping: JsonObject): JsonObject {
    return mapObjectStrings(mapping, (text) =>
      text.replace(NODE_REFERENCE, (_reference, id: string) => `nodes.${this.renamed(id)}`),
    );
  }
}
