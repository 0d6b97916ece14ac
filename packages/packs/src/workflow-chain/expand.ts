import {
  type JsonObject,
  OpenwopError,
  type WorkflowEdge,
  type WorkflowNode,
  type WorkflowVariable,
} from '@gantry/protocol';
import { asJson, isObject } from '../json.ts';
import type { ChainCapability, WorkflowChain } from './chain.ts';
import { checkChain, checkTypes, checkVariableReads, producedVariables } from './check-chain.ts';
import { type ExpandedFragmentEdge, type ExpandedFragmentNode, expandEdge, expandNode } from './fragment.ts';
import { NodeIds } from './node-ids.ts';
import { type CompileSchema, resolveParameters, substitutionRules } from './parameters.ts';
import type { ParameterBinding } from './ports.ts';
import { type ChildIds, subChainsInNodes, unsupported } from './sub-chain-refs.ts';
import { substitution } from './substitute.ts';

export interface ExpandOptions {
  /** Unique in the workflow that the expansion goes into: letters, digits, `_` and `-`. */
  readonly expansionId: string;
  /** Whether the host knows a node type that is not `core.*`. */
  readonly isKnownType: (typeId: string) => boolean;
  readonly compileSchema: CompileSchema;
  readonly capabilities: { readonly compensation: boolean };
  /** The workflows of composed chains; without it a chain that composes is refused. */
  readonly children?: ChildIds;
}

export interface Deferral {
  /** What `configurable` takes, by the bare names of the parameters. */
  readonly configurableProperties: JsonObject;
  /** The variable that each bare name stands for. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** A chain as a part of a definition. Edges may still name nodes of the workflow it will go into. */
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
  /** The same nodes and edges in the form of the manifest. */
  readonly fragment: {
    readonly nodes: readonly ExpandedFragmentNode[];
    readonly edges: readonly ExpandedFragmentEdge[];
  };
}

/** Expands a chain with its parameters written down. The first failure throws; there is no half result. */
export function expandChain(
  chain: WorkflowChain,
  parameters: JsonObject,
  options: ExpandOptions,
): ChainExpansion {
  checkExpandable(chain, options);
  const values = resolveParameters(chain, parameters, options.compileSchema);
  const binding = { values: substitution(values, substitutionRules(chain)), variable: () => undefined };
  return expandWith(chain, binding, [], options);
}

/** What must hold before parameters are looked at. */
export function checkExpandable(
  chain: WorkflowChain,
  { isKnownType, capabilities, children }: Pick<ExpandOptions, 'isKnownType' | 'capabilities' | 'children'>,
): void {
  checkChain(chain);
  const composes = Boolean(chain.subChains?.length) || subChainsInNodes(chain).size > 0;
  if (composes && !children) throw unsupported(chain);
  checkTypes(chain, isKnownType);
  if (chain.compensation !== undefined && !capabilities.compensation)
    throw new OpenwopError('capability_required', {
      details: { requiredCapability: 'compensation', chainId: chain.chainId },
    });
}

/** The expansion of a checked chain, however its parameters reach the nodes. */
export function expandWith(
  chain: WorkflowChain,
  binding: ParameterBinding,
  parameterVariables: readonly WorkflowVariable[],
  { expansionId, children }: Pick<ExpandOptions, 'expansionId' | 'children'>,
): ChainExpansion {
  const context = { chain, ids: new NodeIds(chain, expansionId), binding, children };
  const nodes = chain.dag.nodes.map((node, column) => expandNode(context, node, column));
  const edges = (chain.dag.edges ?? []).map((edge, index) => expandEdge(context, edge, index));
  const variables = [...parameterVariables, ...producedVariables(chain)];
  const ports = nodes.flatMap(({ node }) => Object.values(node.inputs));
  checkVariableReads(chain, ports, variables);
  const policy = asJson(chain.compensation ?? null);
  return {
    expandedFrom: { chainId: chain.chainId, chainVersion: chain.version, expansionId },
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
