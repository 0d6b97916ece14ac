export { readChain, WorkflowChain } from './workflow-chain/chain.ts';
export { checkChain } from './workflow-chain/check-chain.ts';
export { expandDeferred } from './workflow-chain/deferred.ts';
export { type ChainExpansion, type ExpandOptions, expandChain } from './workflow-chain/expand.ts';
export { type Instance, type InstantiateOptions, instantiateChain } from './workflow-chain/instantiate.ts';
export { definitionFromChain, intoDefinition } from './workflow-chain/into-definition.ts';
export type { CompileSchema, SchemaIssue } from './workflow-chain/parameters.ts';
export { type PackedChain, SUB_CHAIN_DEPTH_MAX } from './workflow-chain/sub-chains.ts';
