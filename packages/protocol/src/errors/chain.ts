import type { ErrorEntry } from './entry.ts';

/** What workflow chains are refused for: their own shape, their parameters, and what they compose. */
export const CHAIN_ERRORS = {
  pack_not_found: {
    status: 404,
    retriable: false,
    message: 'There is no such pack on this host.',
    next: 'Install the pack first, or correct its name.',
  },
  chain_not_found: {
    status: 404,
    retriable: false,
    message: 'The pack has no such chain.',
    next: 'Use one of the chain ids that the manifest of the pack lists.',
  },
  invalid_request: {
    status: 422,
    retriable: false,
    message: 'The request does not say which chain to expand.',
    next: 'Send `packName`, `chainId` and `parameters`.',
  },
  chain_unresolvable_typeid: {
    status: 400,
    retriable: false,
    message: 'The chain uses a node type that this host does not know.',
    next: 'Install the pack that brings `details.typeId`, then expand the chain again.',
  },
  chain_parameter_invalid: {
    status: 400,
    retriable: false,
    message: 'A parameter does not fit the schema of the chain.',
    next: 'Correct the parameter at `details.path`.',
  },
  chain_edge_condition_invalid: {
    status: 400,
    retriable: false,
    message: 'An edge of the chain has a condition that can never be judged.',
    next: 'Give the condition of the edge in `details.edge` what its type needs.',
  },
  chain_fragment_pins_workflow_id: {
    status: 400,
    retriable: false,
    message: 'A node of the chain names a workflow of one particular host.',
    next: 'Declare the child in `subChains` and name it with `config.subChainRef`.',
  },
  chain_irreversible_with_compensation: {
    status: 400,
    retriable: false,
    message: 'A node of the chain says that its effect has an inverse and that it has none.',
    next: 'Remove `compensation` or `irreversibleEffect` from the node in `details.nodeId`.',
  },
  chain_compensation_policy_conflict: {
    status: 409,
    retriable: false,
    message: 'The chain and the workflow ask for different compensation policies.',
    next: 'Make both policies the same; they are never merged.',
  },
  sensitive_param_not_deferrable: {
    status: 422,
    retriable: false,
    message: 'The chain would write a secret parameter into the workflow.',
    next: 'Use a credential reference of the node instead of the parameter in `details.parameter`.',
  },
  sub_chain_unresolved: {
    status: 400,
    retriable: false,
    message: 'The chain composes another chain that cannot be found.',
    next: 'Declare `details.ref` in `subChains`, and install the pack that holds it.',
  },
  sub_chain_cycle: {
    status: 400,
    retriable: false,
    message: 'The chain composes itself.',
    next: 'Break the circle at the chain in `details.chainId`.',
  },
  sub_chain_max_depth_exceeded: {
    status: 400,
    retriable: false,
    message: 'The chains are nested too deeply.',
    next: 'Nest at most `details.maxDepth` chains.',
  },
  sub_chain_unsupported: {
    status: 422,
    retriable: false,
    message: 'The chain composes other chains, which this host does not run.',
    next: 'Use a host that advertises `workflowChainPacks.subChains`.',
  },
  variable_undeclared: {
    status: 400,
    retriable: false,
    message: 'The chain reads a variable that nothing produces, or produces one that is a parameter.',
    next: 'Declare `details.variableName` in `producedVariables` under a name of its own.',
  },
  produced_var_producer_unknown: {
    status: 400,
    retriable: false,
    message: 'The chain declares a variable whose producer is none of its nodes.',
    next: 'Name a node of the chain in `producedBy`.',
  },
} as const satisfies Record<string, ErrorEntry>;
