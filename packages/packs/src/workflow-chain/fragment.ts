import {
  type EdgeCondition,
  given,
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
export type ExpandedFragmentNode = Omit<FragmentNode, 'compensation'> & {
  readonly compensation?: JsonObject;
  readonly capabilities?: readonly ChainCapability[];
};

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
  const { typeId, position, irreversibleEffect } = source;
  const inputs = nodeInputs(source, ids, binding);
  const name = source.name === undefined ? undefined : binding.values.text(source.name);
  const config = source.config && expandConfig(context, source.config);
  const compensation = source.compensation && expandCompensation(source.compensation, ids, binding.values);
  const capabilities = chain.capabilities?.length ? [...chain.capabilities] : undefined;
  const shared = { id: ids.renamed(source.id), typeId, ...given({ compensation, irreversibleEffect }) };
  return {
    fragment: {
      ...shared,
      ...given({ name, position, config, inputs: source.inputs && inputs.plain, capabilities }),
    },
    node: {
      ...shared,
      name: name || source.id,
      position: { x: column * COLUMN_WIDTH, y: 0, ...position },
      config: config ?? {},
      inputs: inputs.ports,
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
) {
  const renamed = inputMapping && ids.inMapping(inputMapping as JsonObject);
  return mapObjectStrings({ ...rest, ...given({ inputMapping: renamed }) }, values.value);
}

export function expandEdge(
  { ids, binding }: FragmentContext,
  source: FragmentEdge,
  index: number,
): { fragment: FragmentEdge; edge: WorkflowEdge } {
  const from = ids.endpoint(source.from);
  const to = ids.endpoint(source.to);
  const condition = expandCondition(source.condition, binding.values);
  const rules = given({ condition, triggerRule: source.triggerRule });
  const [sourceNodeId, sourceOutput = 'output'] = from;
  const [targetNodeId, targetInput = 'input'] = to;
  const id = `${ids.prefix}edge-${index}`;
  return {
    fragment: { from: from.join('.'), to: to.join('.'), ...rules },
    edge: { id, sourceNodeId, sourceOutput, targetNodeId, targetInput, ...rules },
  };
}

function expandCondition(
  source: FragmentEdge['condition'],
  { text, value }: Substitution,
): EdgeCondition | undefined {
  if (source === undefined) return undefined;
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

const portSchema = lazyValidator(PortValue);

/**
 * The inputs as the definition has them, and as the manifest's own form has them. What is a port is decided before
 * values are filled in: a parameter is data, and cannot turn an input into an expression or into a read of a variable.
 */
function nodeInputs(node: FragmentNode, ids: NodeIds, binding: ParameterBinding) {
  const inputs = Object.entries(node.inputs ?? {}).map(([name, template]) => {
    const isPort = portSchema.Check(template);
    const port = isPort ? boundPort(template, ids, binding) : valuePort(asJson(template), binding);
    if (!portSchema.Check(port))
      throw invalid(
        `With the parameters filled in, the input ${name} of the node ${node.id} names nothing.`,
        { nodeId: node.id, input: name },
      );
    return { name, port, plain: isPort || port.type !== 'static' ? port : port.value };
  });
  return {
    ports: Object.fromEntries(inputs.map(({ name, port }) => [name, port])),
    plain: Object.fromEntries(inputs.map(({ name, plain }) => [name, plain])),
  };
}

/** The variable of a parameter, or the value with all parameters written down. */
function valuePort(template: Json, binding: ParameterBinding): PortValue {
  const parameter = typeof template === 'string' ? wholeToken(template) : undefined;
  const variable = parameter === undefined ? undefined : binding.variable(parameter);
  return variable ?? { type: 'static', value: mapStrings(template, binding.values.value) };
}

function boundPort(template: PortValue, ids: NodeIds, binding: ParameterBinding): PortValue {
  const { text } = binding.values;
  switch (template.type) {
    case 'static':
      return valuePort(asJson(template.value), binding);
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
  endpoint(reference: string): readonly [nodeId: string, port?: string] {
    const dot = reference.indexOf('.');
    if (dot === -1 || this.#ids.has(reference)) return [this.renamed(reference)];
    return [this.renamed(reference.slice(0, dot)), reference.slice(dot + 1)];
  }

  /** Renames `nodes.<id>` in the texts of an input mapping. */
  inMapping(mapping: JsonObject): JsonObject {
    return mapObjectStrings(mapping, (text) =>
      text.replace(NODE_REFERENCE, (_reference, id: string) => `nodes.${this.renamed(id)}`),
    );
  }
}
