import { isDeepStrictEqual } from 'node:util';
import {
  invalid,
  isObject,
  type Json,
  type JsonObject,
  OpenwopError,
  type WorkflowDefinition,
  type WorkflowVariable,
} from '@gantry/protocol';
import { indexOfDuplicate, own } from '../json.ts';
import type { WorkflowChain } from './chain.ts';
import type { ChainExpansion, Deferral } from './expand.ts';

/** Returns the definition with the expansion added; the arguments are not changed. Conflicts are refused. */
export function intoDefinition(parent: WorkflowDefinition, expansion: ChainExpansion): WorkflowDefinition {
  const { deferral } = expansion;
  const nodes = [...parent.nodes, ...expansion.nodes];
  const edges = [...parent.edges, ...expansion.edges];
  checkUnique(nodes, 'node');
  checkUnique(edges, 'edge');
  checkEndpoints(nodes, expansion);
  const spliced: WorkflowDefinition = {
    ...parent,
    nodes,
    edges,
    variables: mergeVariables(parent.variables, expansion.variables),
    settings: withCompensation(parent.settings, expansion),
  };
  return deferral ? withDeferral(spliced, deferral) : spliced;
}

/** A definition that contains only the chain. Different expansions need different ids. */
export function definitionFromChain(
  chain: WorkflowChain,
  expansion: ChainExpansion,
  workflowId: string,
): WorkflowDefinition {
  const metadata: WorkflowDefinition['metadata'] & Pick<ChainExpansion, 'expandedFrom'> = {
    expandedFrom: expansion.expandedFrom,
  };
  const empty: WorkflowDefinition = {
    id: workflowId,
    name: chain.label,
    description: chain.description,
    version: chain.version,
    nodes: [],
    edges: [],
    triggers: [],
    variables: [],
    metadata,
    settings: {},
  };
  return intoDefinition(empty, expansion);
}

function checkUnique(parts: readonly { readonly id: string }[], what: string): void {
  const ids = parts.map(({ id }) => id);
  const id = ids[indexOfDuplicate(ids)];
  if (id !== undefined) throw conflict(`The workflow already has the ${what} ${id}.`, { id });
}

/** Ids that do not belong to the chain must belong to the parent. */
function checkEndpoints(nodes: readonly { readonly id: string }[], expansion: ChainExpansion): void {
  const ids = new Set(nodes.map(({ id }) => id));
  expansion.edges.forEach(({ sourceNodeId, targetNodeId }, position) => {
    for (const nodeId of [sourceNodeId, targetNodeId])
      if (!ids.has(nodeId))
        throw invalid(
          `An edge of the chain names ${nodeId}, which is a node neither of the chain nor of the workflow.`,
          { path: `/dag/edges/${position}`, nodeId },
        );
  });
}

function mergeVariables(
  present: readonly WorkflowVariable[],
  added: readonly WorkflowVariable[],
): WorkflowVariable[] {
  const byName = new Map(present.map((variable) => [variable.name, variable]));
  for (const variable of added) {
    const other = byName.get(variable.name);
    if (other && !isDeepStrictEqual(other, variable))
      throw conflict(`The workflow already has another variable ${variable.name}.`, {
        variableName: variable.name,
      });
    byName.set(variable.name, variable);
  }
  return [...byName.values()];
}

function withCompensation(
  settings: WorkflowDefinition['settings'],
  { compensation, expandedFrom }: ChainExpansion,
): WorkflowDefinition['settings'] {
  if (compensation === undefined) return settings;
  const present = memberOf(settings, 'compensation');
  if (present !== undefined && !isDeepStrictEqual(present, compensation))
    throw new OpenwopError('chain_compensation_policy_conflict', {
      details: { chainId: expandedFrom.chainId },
    });
  const carried = { ...settings, compensation };
  return carried;
}

/** `configurable` accepts the bare names; the aliases give the variables that they set. */
function withDeferral(definition: WorkflowDefinition, deferral: Deferral): WorkflowDefinition {
  const schema = (definition.configurableSchema ?? { type: 'object' }) as JsonObject;
  const properties = mergeEntries(own(schema, 'properties'), deferral.configurableProperties);
  const present = memberOf(definition.metadata, 'deferredParameterAliases');
  const deferredParameterAliases = mergeEntries(present, deferral.aliases);
  const metadata = { ...definition.metadata, deferredParameterAliases };
  return { ...definition, configurableSchema: { ...schema, properties }, metadata };
}

/** Two chains with a common bare name would be set by one value, so the second is refused. */
function mergeEntries(present: Json | undefined, added: JsonObject): JsonObject {
  const merged: JsonObject = isObject(present) ? { ...present } : {};
  for (const [name, value] of Object.entries(added)) {
    if (Object.hasOwn(merged, name))
      throw conflict(`The workflow already has a configurable parameter ${name}.`, { parameter: name });
    merged[name] = value;
  }
  return merged;
}

const memberOf = (open: object, key: string): Json | undefined => own(open as JsonObject, key);

const conflict = (message: string, details: JsonObject): OpenwopError =>
  new OpenwopError('conflict', { message, details });
