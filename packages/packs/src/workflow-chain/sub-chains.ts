import { hash } from 'node:crypto';
import { invalid, type JsonObject, OpenwopError, type WorkflowDefinition } from '@gantry/protocol';
import type { SubChainRef, WorkflowChain } from './chain.ts';
import { type ChildIds, chainError, subChainsInNodes, unresolved } from './check-chain.ts';
import { checkExpandable, type ExpandOptions, expandChain, expandChecked, expandDeferred } from './expand.ts';
import { definitionFromChain } from './into-definition.ts';
import { parameterDefaults } from './parameters.ts';

const SUB_CHAIN_DEPTH_MAX = 8;
const CHILDREN_MAX = 100;

/** A chain and the pack that contains its siblings. */
export interface PackedChain {
  readonly packName: string;
  readonly chain: WorkflowChain;
}

interface SubChainOptions extends Pick<ExpandOptions, 'isKnownType' | 'capabilities'> {
  readonly tenantId: string;
  /** Finds a sibling in the pack, or a chain of another pack with a valid signature. */
  readonly resolve: (ref: SubChainRef, packName: string) => PackedChain | undefined;
}

interface Child {
  readonly id: string;
  readonly packName: string;
  readonly definition: WorkflowDefinition;
  /** The number of nested levels below it. */
  readonly height: number;
}

/**
 * The workflows of all chains that a chain composes, callees first. A child is shared by all parents of the tenant,
 * so it depends on none of them: its parameters are variables with their own names and the defaults of its schema,
 * and parents set them with `inputMapping`.
 */
function composeSubChains(root: PackedChain, options: SubChainOptions) {
  const done = new Map<string, Child>();

  /** The children of a chain, by the names in its nodes. */
  const compose = (parent: PackedChain, path: readonly string[]): ReadonlyMap<string, Child> =>
    new Map(namedChildren(parent, options).map(([name, child]) => [name, composeChild(child, path)]));

  const composeChild = (packed: PackedChain, path: readonly string[]): Child => {
    const { packName, chain } = packed;
    const key = keyOf(packed);
    if (path.includes(key)) throw chainError('sub_chain_cycle', chain);
    const digest = hash('sha256', JSON.stringify([options.tenantId, chain.chainId, chain.version]));
    const id = childWorkflowId(chain, digest);
    const known = done.get(id);
    // The path contains the root and every chain above, so its length is the depth of the child.
    if (path.length + (known?.height ?? 0) > SUB_CHAIN_DEPTH_MAX)
      throw chainError('sub_chain_max_depth_exceeded', chain, { maxDepth: SUB_CHAIN_DEPTH_MAX });
    if (known) return samePack(known, packed);
    const below = compose(packed, [...path, key]);
    const children = idsOf(below);
    checkExpandable(chain, { ...options, children });
    const at = { expansionId: digest.slice(0, 8), children };
    const expansion = expandChecked(chain, parameterDefaults(chain), at, (name) => name);
    const height = Math.max(0, ...[...below.values()].map((child) => child.height + 1));
    const child = { id, packName, definition: definitionFromChain(chain, expansion, id), height };
    if (done.set(id, child).size > CHILDREN_MAX)
      throw invalid(`A chain composes at most ${CHILDREN_MAX} others.`, { max: CHILDREN_MAX });
    return child;
  };

  const childIds = idsOf(compose(root, [keyOf(root)]));
  return { childIds, children: [...done.values()].map(({ definition }) => definition) };
}

const idsOf = (children: ReadonlyMap<string, Child>): ChildIds =>
  new Map([...children].map(([name, { id }]) => [name, id]));

/** The chains that the nodes name. All declared chains must be found, even if no node names them. */
function namedChildren(parent: PackedChain, { resolve }: SubChainOptions): [string, PackedChain][] {
  const declared = new Map<string, PackedChain>();
  for (const { ref } of parent.chain.subChains ?? []) {
    const chainId = typeof ref === 'string' ? ref : ref.chainId;
    const found = resolve(ref, parent.packName);
    if (!found || found.chain.chainId !== chainId || declared.has(chainId))
      throw unresolved(parent.chain, chainId);
    declared.set(chainId, found);
  }
  return [...subChainsInNodes(parent.chain)].map((name) => {
    const child = declared.get(name);
    if (!child) throw unresolved(parent.chain, name);
    return [name, child];
  });
}

/** One id per chain, version and tenant: a child that is composed twice is registered once. */
function childWorkflowId({ chainId }: WorkflowChain, digest: string): string {
  const readable = chainId.toLowerCase().replace(/[^a-z0-9_-]/g, '_');
  return `chain_${readable.slice(0, 64)}_${digest.slice(0, 32)}`;
}

/** All versions of a chain have the same key. */
const keyOf = ({ packName, chain }: PackedChain): string => JSON.stringify([packName, chain.chainId]);

/** The id does not contain the pack name, so a chain of another pack with the same name must be refused. */
function samePack(known: Child, { packName, chain }: PackedChain): Child {
  if (known.packName === packName) return known;
  throw new OpenwopError('conflict', {
    message: `Two packs bring a chain ${chain.chainId} of version ${chain.version}.`,
    details: { chainId: chain.chainId, packNames: [known.packName, packName] },
  });
}

export interface InstantiateOptions extends Omit<ExpandOptions, 'children'> {
  /** The id of the new workflow; it must differ if the parameters differ. */
  readonly workflowId: string;
  readonly parameters: 'written-down' | 'deferred';
  /** How composed chains are found; undefined on a host without child workflows. */
  readonly subChains: Pick<SubChainOptions, 'tenantId' | 'resolve'> | undefined;
}

export interface Instance {
  readonly definition: WorkflowDefinition;
  /** Must be registered in the same commit, in this order, before the definition. */
  readonly children: readonly WorkflowDefinition[];
}

/** Creates a workflow from a chain, with a workflow for each chain that it composes. */
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
