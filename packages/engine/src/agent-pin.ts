/** Agents pinned to nodes: the run has their identity while it works on these nodes. */
import { AgentRef, type JsonObject, misfit } from '@gantry/protocol';
import type { Compilation } from './compilation.ts';
import { textAt } from './payload.ts';
import type { PlanNode } from './plan.ts';
import { emitNode, type Step } from './step.ts';

export function checkAgentPins(compilation: Compilation): void {
  compilation.definition.nodes.forEach(({ agent }, position) => {
    if (agent === undefined) return;
    const path = `/nodes/${position}/agent`;
    const problem = misfit(AgentRef, agent);
    if (problem) compilation.issue(`${path}${problem.path}`, problem.message);
    else if (agent.version !== undefined && agent.channel !== undefined)
      compilation.issue(path, 'An agent is pinned by version or by channel, not by both');
    else if (agent.channel !== undefined)
      compilation.issue(
        `${path}/channel`,
        'This host does not offer deployment channels of agents: pin a version',
      );
  });
}

export const pinOf = ({ definition }: PlanNode): JsonObject | undefined =>
  definition.agent as JsonObject | undefined;

/** Emits an event when the work passes to a different agent. */
export function handOver(step: Step, node: PlanNode): void {
  const pin = pinOf(node);
  const before = step.run.agent;
  if (!pin || !before) return;
  const fromAgentId = textAt(before, 'agentId');
  const toAgentId = textAt(pin, 'agentId');
  if (fromAgentId !== toAgentId) emitNode(step, node.id, 'agent.handoff', { fromAgentId, toAgentId });
}
