import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import { expandDeferred } from './deferred.ts';
import { type ExpandOptions, expandChain } from './expand.ts';
import { definitionFromChain } from './into-definition.ts';
import { composeSubChains, type PackedChain, type SubChainOptions } from './sub-chains.ts';

export interface InstantiateOptions extends Omit<ExpandOptions, 'children'> {
  /** Of the workflow to be made; it must differ when the parameters differ. */
  readonly workflowId: string;
  readonly parameters: 'written-down' | 'deferred';
  /** How composed chains are found; undefined on a host that does not run child workflows. */
  readonly subChains: Pick<SubChainOptions, 'tenantId' | 'resolve' | 'sha256'> | undefined;
}

export interface Instance {
  readonly definition: WorkflowDefinition;
  /** To be registered in the same commit, in this order, before the definition. */
  readonly children: readonly WorkflowDefinition[];
}

/** A chain as a workflow of its own, with a workflow for each chain that it composes. */
export function instantiateChain(
  root: PackedChain,
  parameters: JsonObject,
  options: InstantiateOptions,
): Instance {
  const { workflowId, subChains, parameters: mode, ...expandOptions } = options;
  const composition = subChains && composeSubChains(root, { ...expandOptions, ...subChains });
  const expand = mode === 'deferred' ? expandDeferred : expandChain;
  const expansion = expand(root.chain, parameters, {
    ...expandOptions,
    ...(composition && { children: composition.childIds }),
  });
  return {
    definition: definitionFromChain(root.chain, expansion, workflowId),
    children: composition?.children ?? [],
  };
}
