/** Workflows that seams bring along, under ids that no author uses. */
import { hash } from 'node:crypto';
import type { JsonObject, WorkflowDefinition, WorkflowEdge, WorkflowNode } from '@gantry/protocol';
import canonicalize from 'canonicalize';

type NodeMore = Partial<Pick<WorkflowNode, 'config' | 'inputs' | 'settings' | 'artifactType'>>;

/** Ids that begin so may play agents: only conformance workflows do. */
export const seamId = (name: string): string => `conformance-seam-${name}`;

/** An id for a workflow that depends on what the caller sent: two callers never change each other's. */
export const seamIdFor = (name: string, sent: JsonObject): string =>
  seamId(`${name}-${hash('sha256', canonicalize(sent) ?? '', 'hex').slice(0, 16)}`);

export const node = (id: string, typeId: string, more: NodeMore = {}): WorkflowNode => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config: {},
  inputs: {},
  ...more,
});

export const edge = (
  sourceNodeId: string,
  targetNodeId: string,
  more: Pick<WorkflowEdge, 'condition'> = {},
): WorkflowEdge => ({ id: `${sourceNodeId}-${targetNodeId}`, sourceNodeId, targetNodeId, ...more });

export const definition = (
  id: string,
  nodes: WorkflowNode[],
  more: Partial<Pick<WorkflowDefinition, 'edges' | 'variables' | 'settings'>> = {},
): WorkflowDefinition => ({
  id,
  name: id,
  version: '1.0.0',
  nodes,
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
  ...more,
});

/** Ends at once. */
export const noop = (id: string): WorkflowDefinition => definition(id, [node('work', 'core.noop')]);
