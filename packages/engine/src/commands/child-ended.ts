import type { JsonObject } from '@gantry/protocol';
import { emitChain } from '../children/chain.ts';
import { type ChildReport, isEnded } from '../children/child.ts';
import { awaited } from '../children/requests.ts';
import type { Command } from '../command.ts';
import { isTooLarge, tooLarge } from '../json.ts';
import type { Step } from '../step.ts';

/**
 * The end of a child that the node no longer waits for is ignored. A paused run processes it when it is
 * resumed, since no event may occur between `run.paused` and `run.resumed`: until then it is refused, not lost.
 */
export function childEnded(step: Step, command: Extract<Command, { type: 'childEnded' }>): void {
  const node = step.plan.nodes.get(command.nodeId);
  if (!node) return;
  const entry = awaited(step.run, node.id);
  if (entry?.visit !== command.visit) return;
  const { childRunId } = command.report;
  const child = entry.children.find((item) => item.status === 'running' && item.childRunId === childRunId);
  if (!child) return;
  if (step.run.status !== 'running') {
    const message = 'The end of the child is processed when the run is resumed.';
    step.refusal = { code: 'conflict', message, details: { runStatus: step.run.status } };
    return;
  }
  const report = bounded(command.report);
  if (report.contentTrust) step.cause = { contentTrust: report.contentTrust };
  const payload: JsonObject = report.error ? { error: report.error } : {};
  const sealed: JsonObject = { variables: report.variables };
  if (report.sensitive.length > 0) sealed.sensitive = [...report.sensitive];
  if (report.outputs) sealed.outputs = report.outputs;
  emitChain(step, node, child, `child.${report.status}`, { payload, sealed });
  const ended = awaited(step.run, node.id)?.children[child.index];
  if (ended && isEnded(ended)) node.behaviour.childEnded?.(step, node, ended);
}

/** A child whose report is too large for an event counts as failed for its parent. */
function bounded(report: ChildReport): ChildReport {
  const { variables, outputs = {}, ...rest } = report;
  if (!isTooLarge({ variables, outputs })) return report;
  const error = tooLarge('The result of the child');
  return { ...rest, status: 'failed', variables: {}, sensitive: [], error };
}
