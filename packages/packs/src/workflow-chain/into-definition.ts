import { given, OpenwopError, type WorkflowDefinition } from '@gantry/protocol';
import type { WorkflowChain } from './chain.ts';
import type { ChainExpansion } from './expand.ts';

/** A definition that is the chain and nothing else. Expansions that differ need ids that differ. */
export function definitionFromChain(
  chain: WorkflowChain,
  expansion: ChainExpansion,
  workflowId: string,
): WorkflowDefinition {
  const { expandedFrom, nodes, edges, variables, compensation, deferral } = expansion;
  checkEndpoints(expansion);
  checkVariables(expansion);
  // Both are open: what the schema does not name is carried.
  const metadata: Pick<ChainExpansion, 'expandedFrom'> & WorkflowDefinition['metadata'] = given({
    expandedFrom,
    deferredParameterAliases: deferral?.aliases,
  });
  const settings: object & WorkflowDefinition['settings'] = given({ compensation });
  return {
    id: workflowId,
    name: chain.label,
    description: chain.description,
    version: chain.version,
    nodes: [...nodes],
    edges: [...edges],
    triggers: [],
    variables: [...variables],
    // `configurable` takes the bare names; the aliases say which variables they set.
    ...(deferral && {
      configurableSchema: { type: 'object', properties: deferral.configurableProperties },
    }),
    metadata,
    settings,
  };
}

/** Ids that are not the chain's own name nothing here. */
function checkEndpoints({ nodes, edges }: ChainExpansion): void {
  const ids = new Set(nodes.map(({ id }) => id));
  edges.forEach(({ sourceNodeId, targetNodeId }, position) => {
    for (const nodeId of [sourceNodeId, targetNodeId])
      if (!ids.has(nodeId))
        throw new OpenwopError('validation_error', {
          message: `An edge of the chain names ${nodeId}, which is a node neither of the chain nor of the workflow.`,
          details: { path: `/dag/edges/${position}`, nodeId },
        });
  });
}

/** What nodes produce keeps its name, and parameters get a prefix: one may be called like the other. */
function checkVariables({ variables }: ChainExpansion): void {
  const names = variables.map(({ name }) => name);
  const twice = names.find((name, position) => names.indexOf(name) !== position);
  if (twice === undefined) return;
  throw new OpenwopError('conflict', {
    message: `The workflow already has another variable ${twice}.`,
    details: { variableName: twice },
  });
}
