import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import { asJson } from '../json.ts';
import type { WorkflowChain } from './chain.ts';

/** The workflow that stands for each chain that a chain composes, by the `chainId` its nodes name. */
export type ChildIds = ReadonlyMap<string, string>;

/** The chains that a node's `config.subChainRef` names: one, or a list that is dispatched side by side. */
function namedSubChains(chain: WorkflowChain, reference: Json): string[] {
  const names = Array.isArray(reference) ? reference : [reference];
  return names.map((name) => {
    if (typeof name !== 'string') throw unresolved(chain, JSON.stringify(name));
    return name;
  });
}

/** Every chain that the nodes of a chain name, each once. */
export function subChainsInNodes(chain: WorkflowChain): Set<string> {
  const references = chain.dag.nodes.flatMap(({ config }) =>
    config && Object.hasOwn(config, 'subChainRef') ? [asJson(config.subChainRef)] : [],
  );
  return new Set(references.flatMap((reference) => namedSubChains(chain, reference)));
}

/** The part of a node's config that takes the place of `subChainRef`. */
export function bindSubChains(
  chain: WorkflowChain,
  reference: Json,
  children: ChildIds | undefined,
): JsonObject {
  if (!children) throw unsupported(chain);
  const ids = namedSubChains(chain, reference).map((name) => {
    const id = children.get(name);
    if (id === undefined) throw unresolved(chain, name);
    return id;
  });
  return Array.isArray(reference) ? { workflowIds: ids } : { workflowId: ids[0]! };
}

export const unresolved = ({ chainId }: WorkflowChain, ref: string): OpenwopError =>
  new OpenwopError('sub_chain_unresolved', { details: { chainId, ref } });

/** A child is never flattened into its parent: that would change what a run does. */
export const unsupported = ({ chainId }: WorkflowChain): OpenwopError =>
  new OpenwopError('sub_chain_unsupported', { details: { chainId } });
