/** Short ways to write workflow definitions in tests. */
import type { JsonObject, PortValue, WorkflowDefinition, WorkflowEdge, WorkflowNode } from '@gantry/protocol';

export const node = (
  id: string,
  typeId: string,
  config: JsonObject = {},
  more: Partial<WorkflowNode> = {},
): WorkflowNode => ({
  id,
  typeId,
  name: id,
  position: { x: 0, y: 0 },
  config,
  inputs: {},
  ...more,
});

export const edge = (source: string, target: string, more: Partial<WorkflowEdge> = {}): WorkflowEdge => ({
  id: `${source}-${target}`,
  sourceNodeId: source,
  targetNodeId: target,
  ...more,
});

export const variable = (variableName: string): PortValue => ({ type: 'variable', variableName });

export const workflow = (
  id: string,
  nodes: WorkflowNode[],
  more: Partial<WorkflowDefinition> = {},
): WorkflowDefinition => ({
  id,
  name: id,
  version: '1.0.0',
  nodes,
  edges: nodes.slice(1).map((each, i) => edge(nodes[i]!.id, each.id)),
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
  ...more,
});
