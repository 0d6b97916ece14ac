/** The workflows of seams, under ids that no author uses. */
import { hash } from 'node:crypto';
import type { JsonObject, WorkflowDefinition, WorkflowEdge, WorkflowNode } from '@gantry/protocol';
import canonicalize from 'canonicalize';

type NodeMore = Partial<Pick<WorkflowNode, 'config' | 'inputs' | 'settings' | 'artifactType'>>;

/** Only conformance workflows, which have this prefix, may play agents. */
export const seamId = (name: string): string => `conformance-seam-${name}`;

/** The id of a workflow that depends on the request, so that two callers never change each other's workflow. */
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

/** Ends immediately. */
export const noop = (id: string): WorkflowDefinition => definition(id, [node('work', 'core.noop')]);
