import {
  isObject,
  type JsonObject,
  type WorkflowEdge,
  type WorkflowNode,
  type WorkflowVariable,
} from '@gantry/protocol';
import { asJson } from '../json.ts';
import type { ChainCapability, FragmentEdge, WorkflowChain } from './chain.ts';
import {
  chainError,
  checkChain,
  checkTypes,
  checkVariableReads,
  producedVariables,
  subChainsInNodes,
} from './check-chain.ts';
import { type ExpandedFragmentNode, type ExpansionOptions, expansionPrefix, Rewriter } from './fragment.ts';
import {
  bindParameters,
  type CompileSchema,
  openParameters,
  resolveParameters,
  typeOnly,
} from './parameters.ts';

export interface ExpandOptions extends ExpansionOptions {
  /** Whether the host knows a node type that is not `core.*`. */
  readonly isKnownType: (typeId: string) => boolean;
  readonly compileSchema: CompileSchema;
  readonly capabilities: { readonly compensation: boolean };
}

export interface Deferral {
  /** The schema of `configurable`, by the bare names of the parameters. */
  readonly configurableProperties: JsonObject;
  /** The variable of each bare name. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** A chain as part of a definition. Edges may still name nodes of the target workflow. */
export interface ChainExpansion {
  readonly expandedFrom: {
    readonly chainId: string;
    readonly chainVersion: string;
    readonly expansionId: string;
  };
  readonly nodes: readonly WorkflowNode[];
  readonly edges: readonly WorkflowEdge[];
  readonly variables: readonly WorkflowVariable[];
  readonly capabilities: readonly ChainCapability[];
  readonly outputs: NonNullable<WorkflowChain['outputs']>;
  /** For `settings.compensation`. */
  readonly compensation: JsonObject | undefined;
  /** How runs may override the parameters; undefined if they are fixed. */
  readonly deferral: Deferral | undefined;
  /** The same nodes and edges in manifest form. */
  readonly fragment: {
    readonly nodes: readonly ExpandedFragmentNode[];
    readonly edges: readonly FragmentEdge[];
  };
}

type Expand = (chain: WorkflowChain, parameters: JsonObject, options: ExpandOptions) => ChainExpansion;

/** Expands a chain with fixed parameter values. The first failure throws; there is no partial result. */
export const expandChain: Expand = (chain, parameters, options) =>
  expandChecked(chain, checkedValues(chain, parameters, options), options);

/**
 * Parameters become variables of the workflow. An input that is exactly one parameter reads its variable. All other
 * places have no binding at run time and get the value now, as in `expandChain`. A secret parameter is allowed in
 * neither, so its use is refused.
 */
export const expandDeferred: Expand = (chain, parameters, options) => {
  const values = checkedValues(chain, parameters, options);
  const prefix = expansionPrefix(chain.chainId, options.expansionId);
  const open = openParameters(chain);
  return {
    ...expandChecked(chain, values, options, (parameter) => prefix + parameter),
    deferral: {
      configurableProperties: Object.fromEntries(open.map(([name, schema]) => [name, typeOnly(schema)])),
      aliases: Object.fromEntries(open.map(([name]) => [name, prefix + name])),
    },
  };
};

function checkedValues(chain: WorkflowChain, parameters: JsonObject, options: ExpandOptions): JsonObject {
  checkExpandable(chain, options);
  return resolveParameters(chain, parameters, options.compileSchema);
}

/** Checks before parameters are processed. */
export function checkExpandable(
  chain: WorkflowChain,
  { isKnownType, capabilities, children }: Pick<ExpandOptions, 'isKnownType' | 'capabilities' | 'children'>,
): void {
  checkChain(chain);
  const composes = Boolean(chain.subChains?.length) || subChainsInNodes(chain).size > 0;
  if (composes && !children) throw chainError('sub_chain_unsupported', chain);
  checkTypes(chain, isKnownType);
  if (chain.compensation !== undefined && !capabilities.compensation)
    throw chainError('capability_required', chain, { requiredCapability: 'compensation' });
}

/** Expands a checked chain. With `nameOf`, its parameters become variables with these names; else fixed values. */
export function expandChecked(
  chain: WorkflowChain,
  values: JsonObject,
  options: ExpansionOptions,
  nameOf?: (parameter: string) => string,
): ChainExpansion {
  const binding = bindParameters(chain, values, nameOf);
  const variables = [...binding.variables, ...producedVariables(chain)];
  const rewriter = new Rewriter(chain, binding, options);
  const nodes = chain.dag.nodes.map((node, column) => rewriter.node(node, column));
  const edges = (chain.dag.edges ?? []).map((edge, index) => rewriter.edge(edge, index));
  const ports = nodes.flatMap(({ node }) => Object.values(node.inputs));
  checkVariableReads(chain, ports, variables);
  const policy = asJson(chain.compensation ?? null);
  return {
    expandedFrom: {
      chainId: chain.chainId,
      chainVersion: chain.version,
      expansionId: options.expansionId,
    },
    nodes: nodes.map(({ node }) => node),
    edges: edges.map(({ edge }) => edge),
    variables,
    capabilities: chain.capabilities ?? [],
    outputs: chain.outputs ?? {},
    compensation: isObject(policy) ? policy : undefined,
    deferral: undefined,
    fragment: {
      nodes: nodes.map(({ fragment }) => fragment),
      edges: edges.map(({ fragment }) => fragment),
    },
  };
}
