import { refused } from './entry.ts';

/** Refusals of workflow chains: their structure, their parameters and their composition. */
export const CHAIN_ERRORS = {
  ...refused(400, {
    chain_unresolvable_typeid: [
      'The chain uses a node type that this host does not know.',
      'Install the pack that brings `details.typeId`, then expand the chain again.',
    ],
    chain_parameter_invalid: [
      'A parameter does not fit the schema of the chain.',
      'Correct the parameter at `details.path`.',
    ],
    chain_edge_condition_invalid: [
      'An edge of the chain has a condition that cannot be evaluated.',
      'Complete the condition of the edge in `details.edge`.',
    ],
    chain_fragment_pins_workflow_id: [
      'A node of the chain names a workflow of one particular host.',
      'Declare the child in `subChains` and name it with `config.subChainRef`.',
    ],
    chain_irreversible_with_compensation: [
      'A node of the chain declares both a compensation and an irreversible effect.',
      'Remove `compensation` or `irreversibleEffect` from the node in `details.nodeId`.',
    ],
    sub_chain_unresolved: [
      'The chain composes another chain that cannot be found.',
      'Declare `details.ref` in `subChains`, and install the pack that holds it.',
    ],
    sub_chain_cycle: ['The chain composes itself.', 'Break the cycle at the chain in `details.chainId`.'],
    sub_chain_max_depth_exceeded: [
      'The chains are nested too deeply.',
      'Nest at most `details.maxDepth` chains.',
    ],
    variable_undeclared: [
      'The chain reads a variable that nothing produces, or produces one that is a parameter.',
      'Declare `details.variableName` in `producedVariables` under a name of its own.',
    ],
    produced_var_producer_unknown: [
      'The chain declares a variable whose producer is not one of its nodes.',
      'Name a node of the chain in `producedBy`.',
    ],
  }),
  ...refused(404, {
    pack_not_found: ['There is no such pack on this host.', 'Install the pack first, or correct its name.'],
    chain_not_found: [
      'The pack has no such chain.',
      'Use one of the chain ids that the manifest of the pack lists.',
    ],
  }),
  ...refused(409, {
    chain_compensation_policy_conflict: [
      'The chain and the workflow ask for different compensation policies.',
      'Make both policies the same; they are never merged.',
    ],
  }),
  ...refused(422, {
    invalid_request: [
      'The request does not say which chain to expand.',
      'Send `packName`, `chainId` and `parameters`.',
    ],
    sensitive_param_not_deferrable: [
      'The chain would write a secret parameter into the workflow.',
      'Use a credential reference of the node instead of the parameter in `details.parameter`.',
    ],
    sub_chain_unsupported: [
      'The chain composes other chains, which this host does not run.',
      'Use a host that advertises `workflowChainPacks.subChains`.',
    ],
  }),
};
