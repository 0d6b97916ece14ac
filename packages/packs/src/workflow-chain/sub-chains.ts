import { type JsonObject, OpenwopError, type WorkflowDefinition } from '@gantry/protocol';
import type { SubChainRef, WorkflowChain } from './chain.ts';
import {
  checkExpandable,
  type ExpandOptions,
  expandChain,
  expandDeferred,
  expandWithVariables,
} from './expand.ts';
import { definitionFromChain } from './into-definition.ts';
import { parameterDefaults } from './parameters.ts';
import { type ChildIds, subChainsInNodes, unresolved } from './sub-chain-refs.ts';

const SUB_CHAIN_DEPTH_MAX = 8;
const CHILDREN_MAX = 100;

/** A chain and the pack in which its siblings are found. */
export interface PackedChain {
  readonly packName: string;
  readonly chain: WorkflowChain;
}

interface SubChainOptions extends Pick<ExpandOptions, 'isKnownType' | 'capabilities'> {
  readonly tenantId: string;
  /** Finds a sibling in the pack, or a chain of another pack whose signature holds. */
  readonly resolve: (ref: SubChainRef, packName: string) => PackedChain | undefined;
  /** Lower-case hex. */
  readonly sha256: (text: string) => string;
}

interface Composition {
  /** The workflows of the chains that the root names. */
  readonly childIds: ChildIds;
  /** Every child to be registered, each once, those that others call first. */
  readonly children: readonly WorkflowDefinition[];
}

interface Child {
  readonly packName: string;
  readonly definition: WorkflowDefinition;
  /** How many chains are nested below it. */
  readonly height: number;
}

/**
 * The workflows of all chains that a chain composes. A child is shared by every parent of the tenant, so
 * it depends on nothing of theirs: its parameters are variables under their own names, with the defaults
 * of its schema, and parents set them with `inputMapping`.
 */
function composeSubChains(root: PackedChain, options: SubChainOptions): Composition {
  const done = new Map<string, Child>();

  const compose = (parent: PackedChain, path: readonly string[]): { ids: ChildIds; height: number } => {
    const ids = new Map<string, string>();
    let height = 0;
    for (const [name, child] of namedChildren(parent, options)) {
      const { id, child: made } = composeChild(child, path);
      ids.set(name, id);
      height = Math.max(height, made.height + 1);
    }
    return { ids, height };
  };

  const composeChild = (child: PackedChain, path: readonly string[]): { id: string; child: Child } => {
    const key = keyOf(child);
    if (path.includes(key))
      throw new OpenwopError('sub_chain_cycle', { details: { chainId: child.chain.chainId } });
    const id = childWorkflowId(child.chain, options);
    const known = done.get(id);
    // The path holds the root and every chain above, so its length is the depth of the child.
    if (path.length + (known?.height ?? 0) > SUB_CHAIN_DEPTH_MAX) throw tooDeep(child.chain);
    if (known) return { id, child: samePack(known, child) };
    const below = compose(child, [...path, key]);
    const made = {
      packName: child.packName,
      definition: childDefinition(child.chain, id, below.ids, options),
      height: below.height,
    };
    done.set(id, made);
    if (done.size > CHILDREN_MAX) throw tooMany();
    return { id, child: made };
  };

  const { ids } = compose(root, [keyOf(root)]);
  return { childIds: ids, children: [...done.values()].map(({ definition }) => definition) };
}

/** The chains that the nodes name. All that is declared must be found, named or not. */
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

function childDefinition(
  chain: WorkflowChain,
  workflowId: string,
  children: ChildIds,
  options: SubChainOptions,
): WorkflowDefinition {
  checkExpandable(chain, { ...options, children });
  const expansionId = childHash(chain, options).slice(0, 8);
  const defaults: JsonObject = parameterDefaults(chain);
  const expansion = expandWithVariables(chain, defaults, (name) => name, { expansionId, children });
  return definitionFromChain(chain, expansion, workflowId);
}

/** One id for each chain, version and tenant: a child that is composed twice is registered once. */
function childWorkflowId(
  chain: WorkflowChain,
  options: Pick<SubChainOptions, 'tenantId' | 'sha256'>,
): string {
  const readable = chain.chainId.toLowerCase().replace(/[^a-z0-9_-]/g, '_');
  return `chain_${readable.slice(0, 64)}_${childHash(chain, options).slice(0, 32)}`;
}

const childHash = (
  { chainId, version }: WorkflowChain,
  { tenantId, sha256 }: Pick<SubChainOptions, 'tenantId' | 'sha256'>,
): string => sha256(JSON.stringify([tenantId, chainId, version]));

/** Any version of a chain counts as the chain itself. */
const keyOf = ({ packName, chain }: PackedChain): string => JSON.stringify([packName, chain.chainId]);

/** The id does not hold the pack's name, so another pack's chain of that name must not slip in under it. */
function samePack(known: Child, { packName, chain }: PackedChain): Child {
  if (known.packName === packName) return known;
  throw new OpenwopError('conflict', {
    message: `Two packs bring a chain ${chain.chainId} of version ${chain.version}.`,
    details: { chainId: chain.chainId, packNames: [known.packName, packName] },
  });
}

const tooDeep = ({ chainId }: WorkflowChain): OpenwopError =>
  new OpenwopError('sub_chain_max_depth_exceeded', { details: { chainId, maxDepth: SUB_CHAIN_DEPTH_MAX } });

const tooMany = (): OpenwopError =>
  new OpenwopError('validation_error', {
    message: `A chain composes at most ${CHILDREN_MAX} others.`,
    details: { max: CHILDREN_MAX },
  });

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
