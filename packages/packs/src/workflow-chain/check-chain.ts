import {
  type ErrorCode,
  invalid,
  isObject,
  type Json,
  type JsonObject,
  OpenwopError,
  type PortValue,
  type WorkflowVariable,
} from '@gantry/protocol';
import { asJson, indexOfDuplicate } from '../json.ts';
import type { FragmentEdge, FragmentNode, WorkflowChain } from './chain.ts';
import { hasToken, parameterProperties, typeNamed } from './parameters.ts';

export const chainError = (
  code: ErrorCode,
  { chainId }: WorkflowChain,
  details: JsonObject = {},
): OpenwopError => new OpenwopError(code, { details: { chainId, ...details } });

/** Checks a chain for every host, whatever its parameters. */
export function checkChain(chain: WorkflowChain): void {
  checkNodeIds(chain);
  chain.dag.nodes.forEach((node, position) => {
    checkNode(chain, node, position);
  });
  chain.dag.edges?.forEach(({ from, to, condition }, edge) => {
    if (!isJudgeable(condition)) throw chainError('chain_edge_condition_invalid', chain, { edge, from, to });
  });
  checkProducedVariables(chain);
}

function checkNode(chain: WorkflowChain, node: FragmentNode, position: number): void {
  if (node.config && Object.hasOwn(node.config, 'workflowId'))
    throw chainError('chain_fragment_pins_workflow_id', chain, { nodeId: node.id });
  if (node.irreversibleEffect === true && node.compensation !== undefined)
    throw chainError('chain_irreversible_with_compensation', chain, { nodeId: node.id });
  if ([node.config, node.inputs, node.compensation].some((data) => hasTokenKey(asJson(data ?? null))))
    throw invalid(`The node ${node.id} has a placeholder in a key; only values are filled in.`, {
      path: `/dag/nodes/${position}`,
    });
}

function hasTokenKey(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasTokenKey);
  return isObject(value) && Object.entries(value).some(([key, item]) => hasToken(key) || hasTokenKey(item));
}

/** Every type except `expression` reads a value, so it must name its place. */
function isJudgeable(condition: FragmentEdge['condition']): boolean {
  if (condition === undefined || typeof condition === 'string') return true;
  if (condition.type === undefined) return true;
  return Boolean(condition.type === 'expression' ? condition.expression : condition.left);
}

/** Throws for the first node type, or inverse node type, that is neither `core.*` nor known. */
export function checkTypes(chain: WorkflowChain, isKnownType: (typeId: string) => boolean): void {
  for (const { id, typeId, compensation } of chain.dag.nodes)
    for (const used of compensation ? [typeId, compensation.nodeTypeId] : [typeId])
      if (!used.startsWith('core.') && !isKnownType(used))
        throw new OpenwopError('chain_unresolvable_typeid', {
          message: `The chain ${chain.chainId} uses the node type ${used}, which this host does not know.`,
          details: { chainId: chain.chainId, nodeId: id, typeId: used },
        });
}

/** Variables that runs write must have a producer, and a name that no parameter has. */
function checkProducedVariables(chain: WorkflowChain): void {
  const nodeIds = new Set(chain.dag.nodes.map(({ id }) => id));
  const taken = new Set(parameterProperties(chain).keys());
  for (const { name, producedBy } of chain.producedVariables ?? []) {
    if (!nodeIds.has(producedBy))
      throw chainError('produced_var_producer_unknown', chain, { variableName: name, producedBy });
    if (taken.has(name)) throw chainError('variable_undeclared', chain, { variableName: name });
    taken.add(name);
  }
}

/** Name and type only: the value comes from the run. The name is the producer's, so it gets no prefix. */
export const producedVariables = (chain: WorkflowChain): WorkflowVariable[] =>
  (chain.producedVariables ?? []).map(({ name, type }) => ({ name, type: typeNamed(type) ?? 'string' }));

/** An expansion may only read variables that it defines. */
export function checkVariableReads(
  chain: WorkflowChain,
  ports: Iterable<PortValue>,
  variables: readonly WorkflowVariable[],
): void {
  const declared = new Set(variables.map(({ name }) => name));
  for (const port of ports)
    if (port.type === 'variable' && !declared.has(port.variableName))
      throw chainError('variable_undeclared', chain, { variableName: port.variableName });
}

/** Node ids must be unique. */
function checkNodeIds({ dag: { nodes } }: WorkflowChain): void {
  const twice = indexOfDuplicate(nodes.map(({ id }) => id));
  if (twice >= 0)
    throw invalid(`The chain has two nodes with the id ${nodes[twice]?.id}.`, {
      path: `/dag/nodes/${twice}/id`,
    });
}

/** The workflow of each chain that a chain composes, by the `chainId` in its nodes. */
export type ChildIds = ReadonlyMap<string, string>;

/** The chains in `config.subChainRef` of a node: one, or a list that is dispatched in parallel. */
function namedSubChains(chain: WorkflowChain, reference: Json): string[] {
  const names = Array.isArray(reference) ? reference : [reference];
  return names.map((name) => {
    if (typeof name !== 'string') throw unresolved(chain, JSON.stringify(name));
    return name;
  });
}

/** All distinct chains that the nodes of a chain name. */
export function subChainsInNodes(chain: WorkflowChain): Set<string> {
  const references = chain.dag.nodes.flatMap(({ config }) =>
    config && Object.hasOwn(config, 'subChainRef') ? [asJson(config.subChainRef)] : [],
  );
  return new Set(references.flatMap((reference) => namedSubChains(chain, reference)));
}

/** The part of a node's config that replaces `subChainRef`. */
export function bindSubChains(
  chain: WorkflowChain,
  reference: Json,
  children: ChildIds | undefined,
): JsonObject {
  // A child is never flattened into its parent: that would change the behaviour of a run.
  if (!children) throw chainError('sub_chain_unsupported', chain);
  const ids = namedSubChains(chain, reference).map((name) => {
    const id = children.get(name);
    if (id === undefined) throw unresolved(chain, name);
    return id;
  });
  return Array.isArray(reference) ? { workflowIds: ids } : { workflowId: ids[0]! };
}

export const unresolved = (chain: WorkflowChain, ref: string): OpenwopError =>
  chainError('sub_chain_unresolved', chain, { ref });
