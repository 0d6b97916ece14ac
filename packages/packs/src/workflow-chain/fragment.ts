import type { EdgeCondition, JsonObject, WorkflowEdge, WorkflowNode } from '@gantry/protocol';
import { asJson, mapObjectStrings, mapStrings } from '../json.ts';
import type { ChainCapability, FragmentEdge, FragmentNode, WorkflowChain } from './chain.ts';
import type { Endpoint, NodeIds } from './node-ids.ts';
import { nodeInputs, type ParameterBinding, plainOf, portsOf } from './ports.ts';
import { bindSubChains, type ChildIds } from './sub-chain-refs.ts';
import type { Substitution } from './substitute.ts';

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
      ...(source.inputs && { inputs: plainOf(inputs) }),
      ...carried,
      ...(capabilities && { capabilities }),
    },
    node: {
      id,
      typeId,
      name: name || source.id,
      position: { x: source.position?.x ?? column * COLUMN_WIDTH, y: source.position?.y ?? 0 },
      config: config ?? {},
      inputs: portsOf(inputs),
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
